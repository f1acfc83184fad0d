"""How a page looks, asked in the page itself: what sticks out, what is hard to read, what is highlighted."""

from __future__ import annotations

from playwright.sync_api import Page

_STICKS_OUT = """() => [...document.querySelectorAll("body *")].filter((each) => {
  const box = each.getBoundingClientRect();
  const inner = each.closest(".scroll, .editor, .skip, .tall");
  return box.width && (!inner || inner === each) && !each.matches(".skip") && box.right > innerWidth + 0.5;
}).map((each) => each.outerHTML.slice(0, 120)).concat(
  document.documentElement.scrollWidth > innerWidth ? ["the page itself"] : [])"""

# As WCAG 2 has it: the luminance of a colour, and the contrast of text to what is behind it.
_PALE = """() => {
  const parsed = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => {
    const linear = (c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = rgb.slice(0, 3).map((c) => linear(c / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (each) => {
    for (let at = each; at; at = at.parentElement) {
      const colour = parsed(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const pale = [];
  for (const each of document.querySelectorAll("body *")) {
    const own = [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own && !each.matches("input, textarea, select") || !each.checkVisibility() || each.closest(".marks")) continue;
    const [a, b] = [light(parsed(getComputedStyle(each).color)), light(behind(each))].sort((x, y) => y - x);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.5) pale.push(`${contrast.toFixed(2)} ${each.outerHTML.slice(0, 120)}`);
  }
  return pale;
}"""

_PIXELS = """async ([colour]) => {
  const picture = document.getElementById("picture");
  await picture.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (colour.every((value, n) => Math.abs(data[i + n] - value) < 3)) found += 1;
  }
  return found;
}"""

_FOCUS = """() => {
  const at = document.activeElement;
  const ring = at.closest(".editor") ?? at;
  const style = getComputedStyle(ring);
  return [at.id || at.textContent.trim(), style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2];
}"""


def sticks_out(page: Page) -> list[str]:
    """What is wider than the window, other than what can be scrolled by itself."""
    found: list[str] = page.evaluate(_STICKS_OUT)
    return found


def pale(page: Page) -> list[str]:
    """Text with less contrast than 4.5 to 1."""
    found: list[str] = page.evaluate(_PALE)
    return found


def pixels(page: Page, colour: str) -> int:
    """How many points of the picture have this colour."""
    found: int = page.evaluate(_PIXELS, [[int(colour[i : i + 2], 16) for i in (1, 3, 5)]])
    return found


def focus(page: Page) -> tuple[str, bool]:
    """Where the keyboard is, and whether that can be seen."""
    name, visible = page.evaluate(_FOCUS)
    return name, visible
