import { expect, test } from 'vitest'
import { MINUTE } from '../../../src/core/time.ts'
import { wordsOf } from '../../../src/language/catalogue.ts'
import { draftPostmortem } from '../../../src/status/incident/postmortem-draft.ts'
import { MAX_MESSAGE_LENGTH } from '../../../src/status/timeline/timeline-limits.ts'

const at = (minutes: number) => new Date(Date.UTC(2026, 10, 20, 12, minutes))
const update = (minutes: number, message: string) =>
  ({ status: 'IDENTIFIED', createdAt: at(minutes), message }) as const
const source = {
  title: 'API *down*',
  startedAt: at(0),
  resolvedAt: at(30),
  services: ['API', 'Web'],
  updates: [update(5, 'A disk is full.'), { ...update(30, ''), status: 'RESOLVED' } as const],
}

test('a draft has the facts, sections to write, and the timeline in the time zone and language', () => {
  const draft = draftPostmortem(source, wordsOf('DE'), 'Europe/Berlin')
  expect(draft).toBe(`## Zusammenfassung

API \\*down\\*${'  '}
20. November 2026 um 13:00 – 20. November 2026 um 13:30${'  '}
API, Web

## Ursache

…

## Was wir ändern

…

## Verlauf

**20. November 2026 um 13:05 · ${wordsOf('DE').incidentStatus.IDENTIFIED}**

A disk is full.

**20. November 2026 um 13:30 · ${wordsOf('DE').incidentStatus.RESOLVED}**`)
})

test('an open incident without services has only a start', () => {
  const draft = draftPostmortem({ ...source, resolvedAt: null, services: [], updates: [] }, wordsOf('EN'), 'UTC')
  expect(draft).not.toContain('–')
  expect(draft).toContain('20 November 2026 at 12:00')
})

test.each([
  [3, 10_000],
  [40, 3000],
  [500, 10_000],
  [500, 1],
])('a draft of %i updates with %i characters each fits into a message', (count, length) => {
  const updates = Array.from({ length: count }, (_, index) => update(index, 'x'.repeat(length)))
  const draft = draftPostmortem({ ...source, updates }, wordsOf('EN'), 'UTC')
  expect(draft.length).toBeLessThanOrEqual(MAX_MESSAGE_LENGTH)
  const time = wordsOf('EN').date('UTC', { dateStyle: 'long', timeStyle: 'short' })
  expect(draft).toContain(time(at(0)))
  expect(draft).toContain(time(new Date(at(0).getTime() + (count - 1) * MINUTE)))
})
