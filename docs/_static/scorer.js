// How the search ranks pages: words of the title count most, pages before examples and changes.
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  score: ([docname, title, anchor, descr, score, filename, kind]) => {
    const query = (new URLSearchParams(window.location.search).get("q") || "").toLowerCase();
    const words = query.split(/[^a-z0-9_]+/).filter(Boolean);
    const page = title.split(" > ")[0].toLowerCase();
    const hits = words.filter((word) => page.includes(word)).length;
    if (words.length && hits === words.length) score += 30 + (page === query ? 20 : 0) + (anchor ? -5 : 0);
    if (/^(start|how-to|methods|reference)\/[^/]+$/.test(docname)) score += 6;
    if (docname.startsWith("gallery_pages/")) score += 1;
    if (docname === "changelog" && query !== "changelog") score -= 30;
    if (kind === "index") score -= 3;
    return score;
  },
};
