import { lazily } from '../core/lazily.ts'
import { ownValue } from '../core/own-value.ts'

/**
 * The plural categories of a language that its messages distinguish
 * (https://cldr.unicode.org/index/cldr-spec/plural-rules).
 */
export type Plurals = 'one' | 'few' | 'many' | 'other'

/** A weekday by its position in a month: `nth` from 1, -1 is the last one; `day` from Monday, 0. */
export interface NthWeekday {
  readonly nth: number
  readonly day: number
}

/** Formats numbers, plurals, lists and times in one language. */
export interface Formats<Forms extends Plurals> {
  /** Formats a number: `1,234`. */
  number(value: number): string
  /** Returns the form of a message for a number; `#` in it becomes the number. */
  plural(count: number, forms: Readonly<Record<Forms, string>>): string
  /** Formats a percentage with at most three decimals: `99.98` as `99.98%`. */
  percent(value: number): string
  /** Joins with “and”: `Search, Checkout and API`. */
  list(items: readonly string[]): string
  /** Formats a duration in milliseconds, rounded down to two units: `2 h 5 min`, `3 d 4 h`; null: under a minute. */
  duration(milliseconds: number): string | null
  /**
   * Formats how long ago something was, in milliseconds, rounded down to one unit: `58 minutes ago`, `now` under a
   * minute.
   */
  ago(milliseconds: number): string
  /**
   * Creates a format of dates and times in a time zone. Slow: create each once per page.
   * @throws RangeError for an unknown time zone.
   */
  date(timeZone: string, options: Intl.DateTimeFormatOptions): (at: Date) => string
}

/** The short names of units of time after a number. */
type Units = Readonly<Record<'day' | 'hour' | 'minute', string>>

/** The units of languages for which those of `Intl` are longer. */
const shortUnits: Readonly<Record<string, Units>> = {
  en: { day: 'd', hour: 'h', minute: 'min' },
  it: { day: 'g', hour: 'h', minute: 'min' },
  nl: { day: 'd', hour: 'u', minute: 'min' },
}

/** Creates the formats of a locale such as `pt-BR`. */
export function formatsOf<Forms extends Plurals = 'one' | 'other'>(locale: string): Formats<Forms> {
  const units = ownValue(shortUnits, locale.split('-')[0] ?? '')
  const past = lazily(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }))
  const numbers = lazily(() => new Intl.NumberFormat(locale))
  const rules = lazily(() => new Intl.PluralRules(locale))
  const lists = lazily(() => new Intl.ListFormat(locale, { type: 'conjunction' }))
  const percents = lazily(() => new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 3 }))
  const quantity = (unit: keyof Units) => {
    if (units !== undefined) return (value: number) => `${numbers().format(value)} ${units[unit]}`
    const format = lazily(() => new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'short' }))
    return (value: number) => format().format(value)
  }
  const [inDays, inHours, inMinutes] = [quantity('day'), quantity('hour'), quantity('minute')]
  return {
    number: (value) => numbers().format(value),
    plural(count, forms) {
      const rule = Object.entries<string>(forms).find(([name]) => name === rules().select(count))
      // French, Spanish, Italian and Portuguese distinguish millions, which messages here do not.
      const [, form = ''] = rule ?? Object.entries<string>(forms).find(([name]) => name === 'other') ?? []
      return form.replaceAll('#', numbers().format(count))
    },
    percent: (value) => percents().format(value / 100),
    list: (items) => lists().format(items),
    duration(milliseconds) {
      const minutes = Math.max(0, Math.floor(milliseconds / 60_000))
      const [days, hours, rest] = [Math.floor(minutes / 1440), Math.floor(minutes / 60) % 24, minutes % 60]
      const parts = [
        ...(days > 0 ? [inDays(days)] : []),
        ...(hours > 0 ? [inHours(hours)] : []),
        ...(days === 0 && rest > 0 ? [inMinutes(rest)] : []),
      ]
      return parts.length === 0 ? null : parts.join(' ')
    },
    ago(milliseconds) {
      const minutes = Math.max(0, Math.floor(milliseconds / 60_000))
      if (minutes === 0) return past().format(0, 'second')
      if (minutes < 60) return past().format(-minutes, 'minute')
      return minutes < 1440
        ? past().format(-Math.floor(minutes / 60), 'hour')
        : past().format(-Math.floor(minutes / 1440), 'day')
    },
    date(timeZone, options) {
      const format = lazily(() => {
        const known = new Intl.DateTimeFormat(locale, { timeZone, ...options })
        return options.timeZoneName === 'short' ? withZoneName(known, timeZone) : (at: Date) => known.format(at)
      })
      return (at) => format()(at)
    },
  }
}

/**
 * The locales whose time zones have abbreviations, in the order of lookup: `Intl` only has the abbreviations of a
 * locale's own countries, and otherwise `GMT-5`.
 */
const namingLocales = ['en-US', 'en-CA', 'en-GB', 'en-AU', 'en-IN', 'en-ZA', 'ja']

const isOffset = (name: string) => /^(GMT|UTC)[+\u2212-]/.test(name)

/** Returns the local abbreviation of a time zone: `EST`, not `GMT-5`. Without one, returns its offset. */
function withZoneName(format: Intl.DateTimeFormat, timeZone: string): (at: Date) => string {
  // An abbreviation in winter implies one in summer.
  const winter = new Date('2026-01-01T12:00:00Z')
  if (!isOffset(zoneName(format, winter))) return (at) => format.format(at)
  const names = namingLocales
    .map((locale) => new Intl.DateTimeFormat(locale, { timeZone, timeZoneName: 'short' }))
    .find((each) => !isOffset(zoneName(each, winter)))
  if (names === undefined) return (at) => format.format(at)
  return (at) => {
    const parts = format.formatToParts(at)
    return parts.map(({ type, value }) => (type === 'timeZoneName' ? zoneName(names, at) : value)).join('')
  }
}

function zoneName(format: Intl.DateTimeFormat, at: Date): string {
  return format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? ''
}

/** Formats a message that contains elements, as a template: the texts and the elements in order. */
export function rich<Element>(
  texts: TemplateStringsArray,
  ...elements: readonly (Element | string)[]
): readonly (string | Element)[] {
  return texts.flatMap((text, index) => {
    const element = elements[index]
    return element === undefined ? [text] : [text, element]
  })
}

/** Capitalizes the first letter. */
export function upperFirst(text: string): string {
  return text.replace(/^./u, (letter) => letter.toUpperCase())
}
