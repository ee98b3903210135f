import type { Page } from 'playwright-core'

/** Returns the texts on a page whose contrast with their background is below 4.5:1. */
export function faintTexts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const channels = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
    const luminance = (color: string) => {
      const linear = channels(color)
        .slice(0, 3)
        .map((value) => value / 255)
        .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      return 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0)
    }
    const behind = (element: Element | null): string => {
      if (!element) return 'rgb(255, 255, 255)'
      const color = getComputedStyle(element).backgroundColor
      return (channels(color)[3] ?? 1) === 0 ? behind(element.parentElement) : color
    }
    const contrast = (element: Element) => {
      const [light = 0, dark = 0] = [luminance(getComputedStyle(element).color), luminance(behind(element))].toSorted(
        (a, b) => b - a,
      )
      return (light + 0.05) / (dark + 0.05)
    }
    return [...document.body.querySelectorAll('*')]
      .filter((element) =>
        [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim()),
      )
      .filter((element) => element.checkVisibility() && contrast(element) < 4.5)
      .map((element) => `${element.textContent} (${contrast(element).toFixed(2)}:1)`)
  })
}
