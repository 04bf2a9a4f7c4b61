// What a browser adds to pages that work without it: live regions, light and dark, copying, evidence under the pointer.
"use strict";
(() => {
  const root = document.documentElement;
  const stored = () => { try { return localStorage.getItem("onlooker-theme"); } catch { return null; } };
  if (stored()) root.dataset.theme = stored();

  const theme = document.getElementById("theme");
  if (theme) {
    theme.hidden = false;
    theme.addEventListener("click", () => {
      const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
      try { localStorage.setItem("onlooker-theme", root.dataset.theme); } catch { /* a private window forgets */ }
    });
  }

  const decorate = (part) => {
    for (const button of part.querySelectorAll("[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const text = document.getElementById(button.dataset.copy).textContent;
        try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { button.textContent = "Select the text and copy it"; }
      });
    }
    for (const item of part.querySelectorAll("[data-effect]")) {
      const marks = [...document.querySelectorAll("mark[data-effects]")].filter((m) => m.dataset.effects.split(" ").includes(item.dataset.effect));
      const set = (on) => { item.classList.toggle("on", on); for (const m of marks) m.classList.toggle("on", on); };
      for (const [name, on] of [["mouseenter", true], ["mouseleave", false], ["focusin", true], ["focusout", false]]) item.addEventListener(name, () => set(on));
    }
  };
  decorate(document);

  // Keys: "/" goes to the search field, j and k walk the rows.
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
    if (event.key === "/") {
      const field = document.getElementById("q");
      if (field) { event.preventDefault(); field.focus(); }
    } else if (event.key === "j" || event.key === "k") {
      const rows = [...document.querySelectorAll("a.row")];
      const at = rows.indexOf(document.activeElement);
      const next = rows[Math.max(0, Math.min(rows.length - 1, at + (event.key === "j" ? 1 : -1)))];
      if (next) next.focus();
    }
  });

  // Live: the server says that the log grew; the same address is asked again and its live regions are exchanged,
  // unless the reader is busy in one of them.
  const live = document.getElementById("live");
  const regions = () => [...document.querySelectorAll("[data-live]")];
  if (!live || !regions().length || !window.EventSource) return;
  let seen = null, loading = false, again = false;
  const busy = (region) => {
    const active = document.activeElement;
    const chosen = document.getSelection();
    return (active && active !== document.body && region.contains(active)) || (chosen && !chosen.isCollapsed && region.contains(chosen.anchorNode));
  };
  const refresh = async () => {
    if (loading) { again = true; return; }
    loading = true;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const region of regions()) {
        const fresh = page.getElementById(region.id);
        if (!fresh || fresh.innerHTML === region.innerHTML) continue;
        if (busy(region)) { live.textContent = "new records; leave the list to see them"; continue; }
        const known = new Set([...region.querySelectorAll("a.row")].map((a) => a.href));
        const taken = document.importNode(fresh, true);
        region.replaceWith(taken);
        for (const a of taken.querySelectorAll("a.row")) if (!known.has(a.href)) a.closest("tr").classList.add("fresh");
        decorate(taken);
      }
      const old = document.getElementById("behind");
      if (old && !page.getElementById("behind")) old.remove();
    } catch { live.textContent = "not connected"; }
    loading = false;
    if (again) { again = false; refresh(); }
  };
  const source = new EventSource("/review/events");
  source.onopen = () => { live.classList.add("on"); if (!live.textContent) live.textContent = "live"; };
  source.onerror = () => { live.classList.remove("on"); live.textContent = "not connected"; };
  source.onmessage = (event) => {
    const now = JSON.parse(event.data);
    const text = now.actions === 1 ? "1 call" : `${now.actions.toLocaleString("en")} calls`;
    live.textContent = `live · ${text}, ${now.flagged.toLocaleString("en")} flagged`;
    const behind = document.getElementById("behind") !== null;
    if ((seen && (now.newest !== seen.newest || now.verified !== seen.verified)) || (seen === null && behind)) refresh();
    seen = now;
  };
  addEventListener("pagehide", () => source.close());
})();
