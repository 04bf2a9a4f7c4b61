"""One request each through the forward proxy, by clients people use: what the environment says is all they are told."""

CURL = ["curl", "-sS", "--fail", "-X", "POST", "-H", "Content-Type: application/json", "-d", "@{body}", "{url}"]

PYTHON = {
    "urllib": """
import sys, urllib.request
asked = urllib.request.Request(sys.argv[1], open(sys.argv[2], "rb").read(), {"Content-Type": "application/json"})
print(urllib.request.urlopen(asked).read().decode())
""",
    "requests": """
import sys, requests
got = requests.post(sys.argv[1], data=open(sys.argv[2], "rb").read(), headers={"Content-Type": "application/json"})
got.raise_for_status()
print(got.text)
""",
    "httpx": """
import sys, httpx
got = httpx.post(sys.argv[1], content=open(sys.argv[2], "rb").read(), headers={"Content-Type": "application/json"})
got.raise_for_status()
print(got.text)
""",
    "aiohttp": """
import asyncio, sys, aiohttp
async def main():
    async with aiohttp.ClientSession(trust_env=True, raise_for_status=True) as session:
        async with session.post(sys.argv[1], data=open(sys.argv[2], "rb").read(), headers={"Content-Type": "application/json"}) as got:
            print(await got.text())
asyncio.run(main())
""",
}

NODE = """
const http = require("http"), tls = require("tls"), https = require("https"), fs = require("fs");
const to = new URL(process.argv[2]), proxy = new URL(process.env.HTTPS_PROXY);
http.request({host: proxy.hostname, port: proxy.port, method: "CONNECT", path: to.host}).on("connect", (said, socket) => {
  if (said.statusCode !== 200) process.exit(3);
  const secure = tls.connect({socket, servername: to.hostname}, () => {
    const asked = https.request({createConnection: () => secure, host: to.hostname, port: to.port, path: to.pathname, method: "POST",
      headers: {"Content-Type": "application/json"}}, got => got.pipe(process.stdout));
    asked.end(fs.readFileSync(process.argv[3]));
  });
}).end();
"""

JAVA = """
import java.net.*; import java.net.http.*; import java.nio.file.*;
public class Ask {
  public static void main(String[] a) throws Exception {
    var client = HttpClient.newBuilder().proxy(ProxySelector.of(new InetSocketAddress(a[2], Integer.parseInt(a[3])))).build();
    var asked = HttpRequest.newBuilder(URI.create(a[0])).header("Content-Type", "application/json")
      .POST(HttpRequest.BodyPublishers.ofFile(Path.of(a[1]))).build();
    System.out.println(client.send(asked, HttpResponse.BodyHandlers.ofString()).body());
  }
}
"""

GO = """
package main

import ("fmt"; "io"; "net/http"; "net/url"; "os")

func main() {
	body, _ := os.Open(os.Args[2])
	proxy, _ := url.Parse(os.Getenv("HTTPS_PROXY"))
	client := http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(proxy), ForceAttemptHTTP2: true}}
	got, err := client.Post(os.Args[1], "application/json", body)
	if err != nil { fmt.Fprintln(os.Stderr, err); os.Exit(1) }
	text, _ := io.ReadAll(got.Body)
	fmt.Println(string(text))
}
"""
