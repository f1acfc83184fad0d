// A text field with the numbers of its lines, in which a mistake is marked at its place.

import { $, make } from "./page.js";
import { told } from "./api.js";

export function editor(name, submit) {
  const area = $(name);
  const numbers = $(`${name}-numbers`);
  const marks = $(`${name}-marks`);
  const message = $(`${name}-wrong`);
  let wrong = null; // the line and the column of the mistake, from 1
  let drawn = "";

  function draw() {
    const lines = area.value.split("\n");
    const state = `${lines.length} ${wrong?.line} ${wrong?.column}`;
    if (state !== drawn) {
      const list = (from, to) => Array.from({ length: to - from + 1 }, (_, n) => `${from + n}\n`).join("");
      if (wrong) {
        numbers.replaceChildren(
          list(1, wrong.line - 1), make("span", "bad", String(wrong.line)), "\n", list(wrong.line + 1, lines.length));
      } else {
        numbers.replaceChildren(list(1, lines.length));
      }
      drawn = state;
    }
    marks.replaceChildren();
    if (wrong) {
      const { before, at, word } = place(lines);
      marks.append(before, at, make("mark", "", word));
    }
    follow();
  }

  // The text before the line of the mistake, that before the mistake in it, and the word that it is.
  function place(lines) {
    const characters = [...lines[wrong.line - 1]];
    const column = Math.min(wrong.column - 1, characters.length);
    const rest = characters.slice(column).join("");
    const word = rest.match(/^[^\s{}();,]+/)?.[0] ?? characters[column] ?? " ";
    const before = lines.slice(0, wrong.line - 1).map((line) => `${line}\n`).join("");
    return { before, at: characters.slice(0, column).join(""), word };
  }

  function follow() {
    numbers.style.transform = `translateY(${-area.scrollTop}px)`;
    marks.style.transform = `translate(${-area.scrollLeft}px, ${-area.scrollTop}px)`;
  }

  function clear() {
    wrong = null;
    message.textContent = "";
    area.removeAttribute("aria-invalid");
    draw();
  }

  // Put the cursor where the mistake is, and bring it into sight.
  function go() {
    const { before, at } = place(area.value.split("\n"));
    const offset = before.length + at.length;
    area.focus({ preventScroll: true });
    area.setSelectionRange(offset, offset);
    const mark = marks.querySelector("mark");
    if (mark.offsetTop < area.scrollTop || mark.offsetTop + 40 > area.scrollTop + area.clientHeight) {
      area.scrollTop = mark.offsetTop - area.clientHeight / 2;
    }
    area.scrollLeft = mark.offsetLeft + 40 > area.clientWidth ? mark.offsetLeft - area.clientWidth / 2 : 0;
    follow();
    area.closest(".editor").scrollIntoView({ block: "nearest" });
  }

  area.addEventListener("input", clear);
  area.addEventListener("scroll", follow);
  area.addEventListener("keydown", (pressed) => {
    if (pressed.key === "Enter" && (pressed.ctrlKey || pressed.metaKey)) {
      pressed.preventDefault();
      submit();
    }
  });
  return {
    clear,
    get text() { return area.value; },
    set text(text) { area.value = text; clear(); },
    mark(error) {
      const { line, column } = error.problem ?? {};
      const last = area.value.split("\n").length;
      wrong = line ? { line: Math.min(line, last), column: line > last ? Infinity : column ?? 1 } : null;
      message.textContent = told(error);
      area.setAttribute("aria-invalid", "true");
      draw();
      if (wrong) go();
    },
  };
}
