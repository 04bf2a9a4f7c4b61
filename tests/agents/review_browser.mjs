// Drives Chromium over the review page; prints one line of JSON. Argument: {base, token, chromium, shots}.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
const require = createRequire(import.meta.url);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const given = JSON.parse(process.argv[2]);
const found = { violations: [], errors: [], foreign: [], wide: [], marked: false, live_ms: -1, opened_by_keys: "", tried: "" };

const browser = await chromium.launch({ executablePath: given.chromium, args: ["--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: false });
const page = await context.newPage();
page.on("console", (m) => { if (m.type() === "error") found.errors.push(m.text()); });
page.on("pageerror", (e) => found.errors.push(String(e)));
page.on("request", (r) => { if (!r.url().startsWith(given.base) && !r.url().startsWith("data:")) found.foreign.push(r.url()); });

const check = async (name) => {
  // evaluate() runs through the debugger, which the page's own policy does not bind
  await page.evaluate(axe);
  const result = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const v of result.violations) if (["serious", "critical"].includes(v.impact)) found.violations.push(`${name}: ${v.id}: ${v.nodes[0].target} ${v.nodes[0].failureSummary}`);
};
const shot = async (name) => { if (given.shots) await page.screenshot({ path: `${given.shots}/${name}.png` }); };
const visit = (path) => page.goto(given.base + path, { waitUntil: "load" });

await visit("/review/");
await check("login");
await shot("login");
await page.fill("#token", given.token);
await page.click("button.main");
await page.waitForSelector("nav");
const first = await (await page.goto(given.base + "/review/actions")).text();
const action = /href="(\/review\/actions\/[^"]+)"/.exec(first)[1];
const pages = ["/review/", "/review/sessions", "/review/sessions/demo-coder", "/review/actions", action, "/review/policies", "/review/policies/candidate", "/review/objectives", "/review/records", "/review/actions?q=nothing-like-it", "/review/nowhere-at-all".replace("nowhere-at-all", "record/x:1")];
for (const scheme of ["light", "dark"]) {
  await page.emulateMedia({ colorScheme: scheme });
  for (const path of pages) {
    const answer = await visit(path);
    if (answer.status() >= 500) found.errors.push(`${answer.status()} ${path}`);
    await check(`${scheme} ${path}`);
    await shot(`${scheme}${path.replace(/[^a-z0-9]+/gi, "-")}`);
  }
}
await page.setViewportSize({ width: 390, height: 844 });
for (const path of pages) {
  await visit(path);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (over > 0) found.wide.push(`${path} by ${over}`);
  await check(`phone ${path}`);
  await shot(`phone${path.replace(/[^a-z0-9]+/gi, "-")}`);
}
found.errors = found.errors.filter((e) => !e.includes("status of 404")); // the page that is not there

await page.setViewportSize({ width: 1280, height: 900 });
await page.emulateMedia({ colorScheme: "light" });
await visit("/review/actions");
await page.keyboard.press("j");
await page.keyboard.press("j");
await page.keyboard.press("Enter");
await page.waitForSelector("#marks");
found.opened_by_keys = new URL(page.url()).pathname;

// Live: a call reaches the hooks of the instance; the list shows it by itself.
const watcher = await context.newPage();
await watcher.goto(given.base + "/review/actions?order=newest");
await watcher.waitForSelector("#live.on");
await watcher.waitForFunction(() => document.getElementById("live").textContent.includes("flagged"));
const begun = Date.now();
await fetch(given.base + "/hooks/claude-code", { method: "POST", body: JSON.stringify({ hook_event_name: "PreToolUse", session_id: "live-1", tool_name: "Bash", tool_use_id: "toolu_live", tool_input: { command: "rm -rf /srv/live-now" }, cwd: "/srv" }) });
await watcher.waitForFunction(() => document.body.textContent.includes("/srv/live-now"), null, { timeout: 5000, polling: 20 });
found.live_ms = Date.now() - begun;

// A mark, through the form, in the log.
await page.check("input[value=benign]");
await page.fill("#reason", "restore drill");
await page.click("form.stack button.main");
await page.waitForSelector("#marks");
found.marked = (await page.textContent("body")).includes("restore drill");
await shot("marked");

// A candidate policy, through its form.
await visit("/review/policies/candidate");
await page.fill("#text", `policy: 1
id: candidate
rules:
  - id: acme.any-send
    description: Sends anything.
    severity: high
    match: {effects: [{domain: network, action: send}]}
    message: "sends to {effect.target}"
    tests:
      - {action: {effects: ["send network:h.example"]}, expect: match}
`);
await page.selectOption("#against", "");
await page.click("form.stack button.main");
await page.waitForSelector("#differences");
found.tried = await page.textContent("section[aria-labelledby=differences]");
await check("candidate, tried");
await shot("candidate");
await browser.close();
console.log(JSON.stringify(found));
