import { describe, expect, test } from 'vitest'
import { HOUR, MINUTE } from '../../src/core/time.ts'
import type { Catalogue } from '../../src/language/catalogue.ts'
import { languages, wordsOf } from '../../src/language/catalogue.ts'

/** Every text message of a catalogue, by path. */
function textsOf(messages: object, path = ''): [string, string][] {
  return Object.entries(messages).flatMap(([key, message]: [string, unknown]): [string, string][] => {
    const at = `${path}${key}`
    if (typeof message === 'string') return [[at, message]]
    return typeof message === 'object' && message !== null ? textsOf(message, `${at}.`) : []
  })
}

/** Every message of a catalogue that takes values, by path. */
function messagesOf(messages: object, path = ''): [string, (...values: unknown[]) => unknown][] {
  return Object.entries(messages).flatMap(([key, message]: [string, unknown]) => {
    const at = `${path}${key}`
    if (typeof message === 'function') return [[at, message as (...values: unknown[]) => unknown]]
    return typeof message === 'object' && message !== null ? messagesOf(message, `${at}.`) : []
  })
}

/** Returns what a message returns; undefined: it does not take such values. */
function tryCall(message: (...values: unknown[]) => unknown, values: readonly unknown[]): unknown {
  try {
    return message(...values)
  } catch {
    return undefined
  }
}

/** Messages with a plural, for some numbers. */
const counted = ({ overview, uptime, incident, headline, page }: Catalogue) =>
  [0, 1, 2, 3, 5, 12, 22, 1000].flatMap((count) => [
    overview.daysWithoutIncident(count),
    overview.noIncidents(count),
    overview.moreIncidents(count),
    uptime.lastDays(count),
    uptime.counts.down(count),
    incident.more(count),
    incident.allUpdates(count),
    headline.incidentsOnly(count),
    page.feed('Acme'),
  ])

describe.each(languages)('%s', (language) => {
  const words = wordsOf(language)

  test('has all texts', () => {
    const texts = textsOf(words).filter(([path]) => !/^(tag|locale|name|dir)$/.test(path))
    expect(texts.filter(([, text]) => text.trim() === '' || text !== text.trim())).toEqual([])
    for (const text of counted(words)) expect(text).not.toMatch(/undefined|#|NaN|\$\{/)
  })

  test('ends a sentence with one full stop, whatever it ends with', () => {
    const lengths = [MINUTE, 5 * MINUTE, HOUR, 5 * HOUR, 24 * HOUR, 240 * HOUR]
    const { uptime, sentence } = words
    for (const text of lengths.flatMap((each) => [uptime.maintenance(each), uptime.down(each), words.duration(each)]))
      expect(sentence(uptime.listed([text]))).toMatch(/[^.。][.。]$/u)
    expect(sentence('Acme Inc.')).toBe(language === 'JA' || language === 'ZH_HANS' ? 'Acme Inc.。' : 'Acme Inc.')
    expect(sentence('Wait…')).toMatch(/^Wait…[.。]$/u)
    // Every message that takes texts, with texts that end with an abbreviation, also isolated ones.
    let tried = 0
    for (const [path, message] of messagesOf(words)) {
      for (const value of ['Acme Inc.', '\u2068Acme Inc.\u2069', HOUR]) {
        const text = tryCall(message, Array(4).fill(value))
        if (typeof text !== 'string') continue
        tried += 1
        expect(text, path).not.toMatch(/\.\u2069?\.(?!\.)/u)
      }
    }
    expect(tried).toBeGreaterThan(300)
  })

  test('leaves no sentence in English', () => {
    if (language === 'EN') return
    const english = new Map(textsOf(wordsOf('EN')))
    const same = textsOf(words).filter(([path, text]) => /\w+ \w+ \w+/.test(text) && english.get(path) === text)
    expect(same).toEqual([])
  })

  test('describes how a maintenance repeats', () => {
    const { repeats } = words
    const on = new Date('2026-01-01T02:00:00Z')
    for (const count of [1, 2, 5]) {
      const sentences = [
        repeats.days(count),
        repeats.weeks(count, [0, 4]),
        repeats.monthDays(count, [1, 15]),
        repeats.monthDays(count, [-1]),
        repeats.monthWeekdays(
          count,
          [1, 2, 3, 4, 5, -1].map((nth) => ({ nth, day: 6 })),
        ),
        repeats.years(count, on),
      ].map((what) => repeats.at(what, '02:00'))
      for (const sentence of sentences) expect(sentence).not.toMatch(/undefined|#|NaN/)
      expect(new Set(sentences).size).toBe(sentences.length)
    }
  })
})
