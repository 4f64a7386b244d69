// The page "Try it here": gives a file to the program, in a worker so that the page stays alive, and shows the
// report. Nothing is fetched: the program is a script beside this one (try-program.js, written by scripts/web).
"use strict";
{
  const $ = (id) => document.getElementById(`try-${id}`);
  const form = document.getElementById("try");
  const here = document.currentScript.src;
  // iframe-worker.js puts something else in its place for pages that are opened from a folder.
  const NativeWorker = window.NativeWorker || window.Worker;

  const EXAMPLES = {
    "notes.txt": notes,
    "paints.csv": () => [
      "paint,400nm,450nm,500nm,550nm,600nm,650nm,700nm",
      "cadmium red,4,4,5,9,62,81,84", "lemon yellow,6,9,48,79,84,86,87",
      "ultramarine,38,46,21,7,5,8,24", "chalk white,88,91,92,93,93,94,94",
      "orange,5,7,27,44,73,83,86", "pale blue,63,69,57,50,49,51,59",
      "pink,46,48,49,51,78,88,89", "leaf green,21,27,36,44,42,44,54",
      "rose,26,26,27,30,69,84,86", "sky,55,60,45,36,35,37,49",
      "sand,35,38,60,79,88,90,91", "plum,21,25,13,8,34,45,54",
    ].join("\n"),
  };

  // Made of two short lists, so that it takes no room: the same notes every time.
  function notes() {
    const words = {
      sea: "harbour sail tide anchor rope gull deck storm wave mast fisherman net island lighthouse cargo",
      field: "barley plough furrow orchard hedge cattle meadow harvest straw barn mill soil hay tractor seed",
      city: "tram market cinema cafe museum square bridge office traffic library concert metro bakery tower street",
    };
    const lists = Object.values(words).map((list) => list.split(" "));
    let state = 7;
    const draw = (n) => (state = (state * 48271) % 2147483647) % n;
    return Array.from({ length: 300 }, (_, k) => {
      const [mine, other] = [lists[k % 3], lists[draw(3)]];
      const some = Array.from({ length: 14 }, (_, i) => (i < 11 ? mine : other)[Math.min(draw(15), draw(15))]);
      return some.join(" ");
    }).join("\n");
  }

  // Runs in the worker; the program's bytes and the job come in one message.
  function work() {
    const text = (memory, at, length) => new TextDecoder().decode(new Uint8Array(memory.buffer, at, length));
    onmessage = async ({ data: { packed, name, contents, kind, rank, seconds } }) => {
      let memory;
      let fault = "";
      try {
        const bytes = new Blob([Uint8Array.from(atob(packed), (c) => c.charCodeAt(0))]);
        const program = await new Response(bytes.stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
        let last = 0;
        const page = {
          now: () => performance.now(),
          progress: (at, length) => {
            if (performance.now() - last < 100) return;
            last = performance.now();
            postMessage({ progress: text(memory, at, length) });
          },
          failed: (at, length) => { fault = text(memory, at, length); },
        };
        const module = await WebAssembly.compile(program);
        // A library of ours comes with bindings to browsers that it never calls there.
        const imports = { page };
        for (const { module: from, name: what } of WebAssembly.Module.imports(module)) {
          imports[from] ??= {};
          imports[from][what] ??= () => { throw new Error(`${what} is not part of this page`); };
        }
        const instance = await WebAssembly.instantiate(module, imports);
        const { input, run, output, output_length, memory: shared } = instance.exports;
        memory = shared;
        const title = new TextEncoder().encode(name);
        const at = input(title.length + contents.byteLength);
        new Uint8Array(memory.buffer, at, title.length).set(title);
        new Uint8Array(memory.buffer, at + title.length, contents.byteLength).set(new Uint8Array(contents));
        const status = run(title.length, kind, rank, seconds);
        postMessage({ status, answer: text(memory, output(), output_length()) });
      } catch (error) {
        postMessage({ status: 2, answer: fault || String(error) });
      }
    };
  }

  let file = null;
  let worker = null;
  let links = [];

  const say = (sentence, wrong = false) => {
    $("status").textContent = sentence;
    $("status").classList.toggle("wrong", wrong);
  };

  const idle = () => {
    worker?.terminate();
    worker = null;
    $("go").disabled = !file;
    $("stop").hidden = true;
  };

  const take = (name, contents) => {
    file = { name, contents };
    idle();
    say(`${name}, ${contents.byteLength.toLocaleString("en")} bytes`);
    form.requestSubmit();
  };

  const show = (name, answer) => {
    links.forEach((link) => URL.revokeObjectURL(link));
    const link = URL.createObjectURL(new Blob([answer], { type: "text/html" }));
    links = [link];
    $("save").href = $("whole").href = link;
    $("save").download = `${name.replace(/\.(gz|[a-z]+)$/i, "")}-report.html`;
    $("answer").hidden = false;
    $("report").srcdoc = answer;
    $("answer").scrollIntoView({ behavior: "smooth", block: "start" });
  };

  const start = () => {
    const begun = performance.now();
    const { name, contents } = file;
    $("answer").hidden = true;
    $("stop").hidden = false;
    $("go").disabled = true;
    say("starting …");
    const source = URL.createObjectURL(new Blob([`(${work})()`], { type: "text/javascript" }));
    worker = new NativeWorker(source);
    worker.onerror = (event) => {
      idle();
      say(`The program could not be started: ${event.message || "your browser refuses it"}`, true);
    };
    worker.onmessage = ({ data }) => {
      if (data.progress) {
        say(`${data.progress} …`);
        return;
      }
      idle();
      URL.revokeObjectURL(source);
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      if (data.status === 0) {
        say(`done in ${seconds} s`);
        show(name, data.answer);
      } else if (data.status === 1) {
        say(data.answer, true);
      } else {
        say(`The program has failed, which is a fault of it or more than this page's memory: ${data.answer}`, true);
      }
    };
    const [kind, rank, seconds] = ["kind", "rank", "seconds"].map((id) => Number($(id).value));
    worker.postMessage({ packed: window.HOTTOPIXX, name, contents, kind, rank, seconds });
  };

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (file) start();
  });
  $("stop").addEventListener("click", () => {
    idle();
    say("stopped");
  });
  const read = async (chosen) => {
    if (chosen) take(chosen.name, await chosen.arrayBuffer());
  };
  $("file").addEventListener("change", (event) => read(event.target.files[0]));
  for (const kind of ["dragenter", "dragover", "dragleave", "drop"]) {
    $("drop").addEventListener(kind, (event) => {
      event.preventDefault();
      $("drop").classList.toggle("over", kind === "dragenter" || kind === "dragover");
      if (kind === "drop") read(event.dataTransfer.files[0]);
    });
  }
  for (const button of form.querySelectorAll("[data-example]")) {
    const name = button.dataset.example;
    button.addEventListener("click", () => {
      $("kind").value = "0";
      $("rank").value = name.endsWith("txt") ? "3" : "4";
      take(name, new TextEncoder().encode(EXAMPLES[name]()).buffer);
    });
  }

  const program = document.createElement("script");
  program.src = new URL("try-program.js", here);
  const absent = () => { $("absent").hidden = false; };
  program.onerror = absent;
  program.onload = () => {
    if (window.HOTTOPIXX && window.WebAssembly && window.DecompressionStream) form.hidden = false;
    else absent();
  };
  document.head.append(program);
}
