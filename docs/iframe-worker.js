// Browsers start no worker for a page that is opened from a folder: there, the search runs in a frame instead.
if (location.protocol === "file:") {
  window.NativeWorker = window.Worker; // one whose text is within the page (try.js) does start
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      // What a worker calls, in terms of a frame.
      frame.srcdoc = `<script>
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = (...urls) => urls.reduce((before, url) => before.then(() => new Promise((done) => {
          const script = document.createElement("script");
          script.src = url; script.onload = done; document.head.append(script);
        })), Promise.resolve());
      <` + `/script><script src="${new URL(url, location.href)}"><` + `/script>`;
      this.ready = new Promise((done) => frame.addEventListener("load", done));
      window.addEventListener("message", (event) => {
        if (event.source !== frame.contentWindow) return;
        event.stopImmediatePropagation();
        const message = new MessageEvent("message", { data: event.data });
        this.dispatchEvent(message);
        if (this.onmessage) this.onmessage(message);
      });
      document.body.append(frame);
      this.frame = frame;
    }
    postMessage(data) {
      // Not the frame's own, which leads back here.
      this.ready.then(() => window.postMessage.call(this.frame.contentWindow, data, "*"));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
