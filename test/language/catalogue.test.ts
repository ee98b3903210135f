import { describe, expect, test } from 'vitest'
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
