"""What cmd.exe and PowerShell share: the programs that come with Windows, and where its files lie."""
