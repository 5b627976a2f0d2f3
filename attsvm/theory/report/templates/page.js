// What the page does with JavaScript; without it everything is there and can be opened.
"use strict";
(() => {
  const one = (s, of = document) => of.querySelector(s);
  const all = (s, of = document) => [...of.querySelectorAll(s)];
  const cards = all(".statement");
  const tools = one(".tools");
  const fields = all("[data-by]", tools);
  const contents = one("nav.top");
  const links = new Map(all("a", contents).map((a) => [decodeURIComponent(a.hash.slice(1)), a]));
  const order = new Map(cards.map((card, k) => [card, k]));
  const number = (card, key) => Number(card.dataset[key] || 0);
  const sorts = {
    place: (a, b) => order.get(a) - order.get(b),
    weight: (a, b) => number(b, "weight") - number(a, "weight") || order.get(a) - order.get(b),
    id: (a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }),
    tight: (a, b) => number(b, "tight") - number(a, "tight"),
    seconds: (a, b) => number(b, "seconds") - number(a, "seconds"),
  };
  for (const control of [tools, one("[data-search]")]) control.hidden = false;

  function filter() {
    const want = Object.fromEntries(fields.map((field) => [field.dataset.by, field.value]));
    const words = want.text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const card of cards) {
      const fits =
        words.every((word) => card.dataset.text.includes(word)) &&
        ["truth", "source", "mark"].every(
          (key) => !want[key] || card.dataset[key].split(" ").includes(want[key]));
      card.hidden = !fits;
      shown += fits;
    }
    for (const part of all(".of-source"))
      part.hidden = want.sort === "place" ? !one(".statement:not([hidden])", part) : false;
    one(".shown").textContent = `${shown} of ${cards.length} statements`;
    const kept = fields.filter((f) => f.value && f.value !== "place");
    const query = new URLSearchParams(kept.map((f) => [f.dataset.by, f.value])).toString();
    try {
      history.replaceState(null, "", `${query ? `?${query}` : location.pathname}${location.hash}`);
    } catch { /* a page opened from a file may not rename itself */ }
  }

  function sort() {
    const by = one("[data-by=sort]", tools).value;
    const sorted = [...cards].sort(sorts[by] || sorts.place);
    const flat = one("#sorted");
    const lists = new Map(all("[data-list]").map((list) => [list.dataset.list, list]));
    for (const card of sorted)
      (by === "place" ? lists.get(card.dataset.source) : flat).append(card);
    for (const part of all(".of-source")) part.classList.toggle("emptied", by !== "place");
  }

  function reveal() {
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* as it is */ }
    const target = document.getElementById(name);
    if (!target) return;
    const card = target.closest(".statement");
    if (card && card.hidden) { for (const field of fields) if (field.dataset.by !== "sort")
      field.value = ""; filter(); }
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target === card) one("details", card).open = true;
    if (links.has(name)) mark(name);
    target.scrollIntoView({ behavior: "instant" });
  }

  function mark(name) {
    for (const a of links.values()) a.removeAttribute("aria-current");
    const now = links.get(name);
    now.setAttribute("aria-current", "location");
    if (getComputedStyle(contents).position !== "fixed") return;
    const source = now.closest("details");
    if (source) source.open = true;
    const [{ top, bottom }, edge] = [now, contents].map((e) => e.getBoundingClientRect());
    if (top < edge.top || bottom > edge.bottom) contents.scrollTop += top - edge.top - 80;
  }

  async function copy(button) {
    const shown = document.getElementById(button.dataset.copy);
    const said = button.textContent;
    try {
      await navigator.clipboard.writeText(shown.textContent);
    } catch {
      const area = document.createElement("textarea");
      area.value = shown.textContent;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
      button.focus();
    }
    button.textContent = "copied";
    setTimeout(() => { button.textContent = said; }, 1500);
  }

  function step(by) {
    const seen = all(".statement:not([hidden])");
    const now = document.activeElement.closest(".statement");
    const k = now ? seen.indexOf(now) + by : by > 0 ? 0 : seen.length - 1;
    if (seen[k]) { one("summary", seen[k]).focus(); seen[k].scrollIntoView({ block: "nearest" }); }
  }

  for (const field of fields) field.addEventListener("input", () => {
    if (field.dataset.by === "sort") sort();
    filter();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if ("search" in button.dataset) one("[data-by=text]").focus();
    if (button.dataset.copy) copy(button);
    if (button.dataset.open)
      for (const card of cards) one("details", card).open =
        button.dataset.open === "all" && !card.hidden;
  });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target.type === "search") {
      event.target.value = "";
      filter();
      event.target.blur();
    }
    if (typing) return;
    if (event.key === "/") { event.preventDefault(); one("[data-by=text]").focus(); }
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = cards.filter((card) => !card.hidden)
      .flatMap((card) => [one("details", card), ...all(".check", card)])
      .filter((part) => !part.open);
    for (const part of closed) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of closed) part.open = false; });
  addEventListener("hashchange", reveal);
  const asked = new URLSearchParams(location.search);
  for (const field of fields) if (asked.has(field.dataset.by)) {
    const value = asked.get(field.dataset.by);
    if (field.tagName !== "SELECT" || [...field.options].some((o) => o.value === value))
      field.value = value;
  }
  sort();
  filter();
  reveal();
  const seen = new IntersectionObserver((entries) => {
    const now = entries.filter((entry) => entry.isIntersecting).pop();
    if (now) mark(now.target.id);
  }, { rootMargin: "-12% 0px -80%" });
  for (const name of links.keys()) seen.observe(document.getElementById(name));
})();
