/**
 * The colours of the style sheet behind coloured text, and of text on a coloured button; the one with the least
 * contrast first.
 */
const backgrounds = { light: ['#f2f3f0', '#fbfbf9', '#ffffff'], dark: ['#1d2326', '#0b2a24', '#14181a'] } as const

/** WCAG 2.2, 1.4.3 (AA): the minimum contrast of text. */
const MIN_CONTRAST = 4.5

/**
 * Returns the organization's colour for both colour schemes, changed only as far as contrast requires. Colours are
 * `#rrggbb`.
 */
export function readableAccents(accent: string): { readonly light: string; readonly dark: string } {
  return {
    light: readable(accent, '#000000', backgrounds.light),
    dark: readable(accent, '#ffffff', backgrounds.dark),
  }
}

/** Returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2, relative luminance). */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (Number(light) + 0.05) / (Number(dark) + 0.05)
}

/** Mixes a colour with `end`, in the smallest share that makes it readable on every background. */
function readable(colour: string, end: string, on: readonly string[]): string {
  const steps = Array.from({ length: 51 }, (_, step) => mix(colour, end, step / 50))
  return steps.find((mixed) => on.every((background) => contrast(mixed, background) >= MIN_CONTRAST)) ?? end
}

function mix(from: string, to: string, share: number): string {
  const target = channels(to)
  const mixed = channels(from).map((value, index) => Math.round(value + (Number(target[index]) - value) * share))
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`
}

function channels(colour: string): readonly number[] {
  const value = Number.parseInt(colour.slice(1), 16)
  return [value >> 16, (value >> 8) & 0xff, value & 0xff]
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => linear(value / 255))
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const linear = (value: number) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
