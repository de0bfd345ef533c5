// A worker that proves networks, the newest one that it was given.

import { check, isOpen, judged, search } from "./prove.js";

const SLICE = 30, PATIENCE = 10_000; // milliseconds between two looks for a newer one, and of a search
let newest = 0;

self.onmessage = async ({ data: { id, file, words } }) => {
  newest = id;
  const found = check(file), searches = isOpen(found);
  self.postMessage({ id, searches, ...judged(found, null) });
  if (!searches) return;
  const looks = search(file, words), start = performance.now();
  for (let began = start; ; ) {
    const { done, value } = began - start < PATIENCE ? looks.next() : { done: true };
    if (done) return self.postMessage({ id, searches: false, ...judged(found, value) });
    if (performance.now() - began < SLICE) continue;
    await new Promise((resolve) => setTimeout(resolve));
    if (id !== newest) return;
    began = performance.now();
  }
};
