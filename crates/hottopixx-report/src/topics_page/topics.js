// What makes the map of topics choose the topic whose words are shown. Without it circles lead to the
// topics' cards and the words stay hidden. It reads numbers from a block of JSON and writes text only,
// never markup.
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const data = JSON.parse($("topic-data").textContent);
  const links = [...document.querySelectorAll(".map a[data-topic]")];
  const [choice, by, slider] = [$("words-topic"), $("words-order"), $("relevance")];
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
  const last = data.topics.length - 1;
  let chosen = 0;

  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  // A word: its bar in the corpus with the topic's part of it, and both numbers.
  function line([name, tokens], own, most) {
    const row = element("tr");
    const head = element("th");
    head.scope = "row";
    head.append(element("bdi", "", name));
    const bar = element("div", "bar");
    bar.style.setProperty("--all", `${(100 * tokens) / most}%`);
    bar.style.setProperty("--part", `${(100 * own) / tokens}%`);
    const drawn = element("td", "drawn");
    drawn.append(bar);
    const number = (value) => element("td", "number", whole.format(value));
    row.append(head, drawn, number(own), number(tokens));
    return row;
  }

  function show() {
    const topic = data.topics[chosen];
    // The last order is that without the slider.
    const stops = topic.orders.length - 2;
    const at = by.value === "relevance" ? Math.round(Number(slider.value) * stops) : stops + 1;
    const order = topic.orders[at] || [];
    const words = order.map((place) => topic.words[place]);
    const most = Math.max(1, ...words.map(([word]) => data.words[word][1]));
    const lines = words.map(([word, p]) =>
      line(data.words[word], Math.min(p * topic.share * data.tokens, data.words[word][1]), most));
    $("word-bars").replaceChildren(...lines);
    $("words-number").textContent = String(chosen + 1);
    $("words-name").textContent = topic.name;
    $("words-share").textContent = `${(100 * topic.share).toFixed(1)} %`;
    $("words-card").hash = `topic-${chosen + 1}`;
    $("relevance-value").textContent = Number(slider.value).toFixed(1);
    choice.value = String(chosen);
    for (const link of links) {
      if (Number(link.dataset.topic) === chosen) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  function choose(topic) {
    chosen = Math.min(Math.max(topic, 0), last);
    show();
  }

  const turns = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  for (const link of links) {
    link.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      choose(Number(link.dataset.topic));
    });
    link.addEventListener("keydown", (event) => {
      const turn = turns[event.key];
      if (!turn || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      choose(chosen + turn);
      links[chosen].focus();
    });
  }
  choice.addEventListener("change", () => choose(Number(choice.value)));
  by.addEventListener("change", show);
  slider.addEventListener("input", () => {
    by.value = "relevance";
    show();
  });
  // An address may name a topic.
  const follow = () => {
    const named = /^#topic-(\d+)$/.exec(location.hash);
    if (named) choose(Number(named[1]) - 1);
  };
  addEventListener("hashchange", follow);
  $("topic-words").hidden = false;
  choose(0);
  follow();
})();
