"""Words that are themselves commands: what the knowledge handed on in, inner effects under the wrapper's scope out.

``handing.py`` decides by the kind of payload: commands given as words (``argv.py``), scripts in strings
(``scripts.py``) and in files (``script_files.py``), standard input (``stdin.py``, ``orders.py``), and what another
surface reads (``elsewhere.py``). What cannot be read is one ``execute code`` with the reason. Who feeds a payload
decides its flow: network → remote_code, decoder → decoded_code.
"""
