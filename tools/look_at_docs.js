// What is wrong with the page as it is drawn now; called by look_at_docs.py.
({ width, prose }) => {
  const faults = [];
  const brief = (text) => text.trim().replace(/\s+/g, " ").slice(0, 70);
  const shown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });

  // -- the page scrolls sideways

  const excess = document.documentElement.scrollWidth - window.innerWidth;
  if (excess > 0) {
    const wide = [...document.body.querySelectorAll("*")].filter(
      (e) => shown(e) && e.getBoundingClientRect().right > window.innerWidth + 1 && !e.closest("pre"),
    );
    const last = wide.at(-1);
    faults.push(`sideways: ${excess} px, ${last ? last.tagName + " " + brief(last.textContent) : ""}`);
  }

  // -- a page of ours that nobody reads to its end

  const height = document.documentElement.scrollHeight;
  if (prose && width > 600 && height > 12000) faults.push(`long: ${height} px, split it`);

  // -- code that is cut: nothing when wide, the first 60 characters of a line on a phone

  for (const block of document.querySelectorAll("article pre, main pre")) {
    if (!shown(block) || block.scrollWidth <= block.clientWidth + 1 || location.pathname.includes("/_modules/")) continue;
    const style = getComputedStyle(block);
    const probe = document.createElement("span");
    probe.textContent = "0".repeat(60);
    probe.style.cssText = "position:absolute;visibility:hidden;white-space:pre";
    block.append(probe);
    const needed = probe.getBoundingClientRect().width;
    probe.remove();
    const room = block.clientWidth - parseFloat(style.paddingLeft);
    const longest = block.textContent.split("\n").reduce((a, b) => (a.length > b.length ? a : b), "");
    if (width > 600 || room < needed - 1) faults.push(`cut code: ${longest.length} characters: ${brief(longest)}`);
  }

  // -- pictures without words

  for (const image of document.images) {
    const beside = image.closest("a, .sphx-glr-thumbcontainer")?.textContent.trim(); // it may be empty beside words
    if (shown(image) && !image.alt.trim() && !(image.hasAttribute("alt") && beside)) faults.push(`no alternative text: ${image.getAttribute("src")}`);
  }
  for (const drawing of document.querySelectorAll("article svg")) {
    const named = drawing.getAttribute("aria-label") || drawing.querySelector("title") || drawing.getAttribute("aria-hidden");
    if (shown(drawing) && !named && !drawing.closest("[aria-label]")) faults.push("no alternative text: svg");
  }

  // -- contrast (WCAG 2.2, 1.4.3): 4.5, or 3 for large text

  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const parsed = new Map();
  const rgba = (colour) => {
    if (!parsed.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      parsed.set(colour, [r, g, b, a / 255]);
    }
    return parsed.get(colour);
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const background = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.backgroundImage !== "none") return null;
      const colour = rgba(style.backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
  };
  const luminance = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (!text || !element || !shown(element) || element.closest("script, style, noscript, [aria-hidden=true]")) continue;
    const style = getComputedStyle(element);
    const drawn = element.closest("svg");
    const base = background(drawn ?? element);
    if (!base || (drawn && element.closest("a, g")?.querySelector("rect"))) continue;
    const fore = over(rgba(drawn ? style.fill : style.color), base);
    const [hi, lo] = [luminance(fore), luminance(base)].sort((a, b) => b - a);
    const ratio = (hi + 0.05) / (lo + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && parseInt(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5) - 0.01) {
      const fault = `contrast: ${ratio.toFixed(2)} of <${element.tagName.toLowerCase()} class="${element.className.baseVal ?? element.className}">`;
      if (!seen.has(fault)) faults.push(`${fault} ${brief(text)}`);
      seen.add(fault);
    }
  }

  // -- a page begins with a sentence or a program (on the page of an object, its docstring does)

  if (prose) {
    const article = document.querySelector("article");
    const first = article && [...article.querySelectorAll("p, li, table, pre, h2")].find((e) => shown(e) && brief(e.textContent).length > 12);
    if (!first || !["P", "PRE"].includes(first.tagName)) faults.push(`no first paragraph: ${first ? first.tagName + " " + brief(first.textContent) : ""}`);
  }
  return faults;
};
