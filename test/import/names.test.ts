import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { nameText } from '../../src/core/validation.ts'
import type { Source } from '../../src/import/source-names.ts'
import { translate } from '../../src/import/sources.ts'
import { isCutName, nameOf } from '../../src/import/translation.ts'

const long = 'a very long name '.repeat(10)
const url = (number: number) => `https://${number}.example/${'path/'.repeat(30)}`

/** Files of each source whose names end differently after more than a hundred characters. */
const files: Readonly<Partial<Record<Source, (ends: readonly string[]) => string>>> = {
  gatus: (ends) =>
    stringify({
      endpoints: ends.map((end, index) => ({
        ...{ name: long + end, group: `${long}group ${end}`, url: url(index) },
        conditions: ['[DOMAIN_EXPIRATION] > 720h'],
      })),
    }),
  upptime: (ends) => stringify({ sites: ends.map((end, index) => ({ name: long + end, url: url(index) })) }),
  'blackbox-exporter': (ends) =>
    stringify({
      modules: { web: { prober: 'http' } },
      scrape_configs: ends.map((end) => ({
        ...{ job_name: long + end, metrics_path: '/probe', params: { module: ['web'] } },
        static_configs: [{ targets: [`https://a.example/${'path/'.repeat(30)}${end}`] }],
      })),
    }),
  'uptime-kuma': (ends) =>
    JSON.stringify({
      ...{ version: '1.23.16', notificationList: [] },
      monitorList: ends.map((end) => ({
        id: end.length,
        name: `${long}${end}`,
        type: 'http',
        url: url(1),
        interval: 60,
      })),
    }),
  statuspage: (ends) =>
    JSON.stringify({
      ...{ page: { id: 'p', name: 'Page' }, incidents: [] },
      components: ends.map((end) => ({ id: `c${end}`, name: long + end, group: false })),
    }),
  openstatus: (ends) =>
    stringify(
      Object.fromEntries(
        ends.map((end, id) => [
          `m${end}`,
          { name: long + end, frequency: '1m', active: true, public: true, kind: 'http', request: { url: url(id) } },
        ]),
      ),
    ),
}

describe('names of more than a hundred characters', () => {
  test.each(Object.entries(files))('of %s stay different, are listed, and come out the same again', (source, file) => {
    // The ends have different lengths, which are ids in some sources.
    const read = (...ends: string[]) => translate({ source: source as Source, name: '' }, file(ends))
    const { objects, notes } = read('one', 'other')
    const sections = [objects.groups, objects.services, objects.monitors].filter(({ size }) => size > 0)
    expect(sections.length).toBeGreaterThan(0)
    for (const section of sections) {
      const names = [...section.values()].map(({ name }) => String(name))
      expect(names.length).toBeGreaterThanOrEqual(2)
      expect(new Set(names).size).toBe(names.length)
      for (const name of names) expect(nameText.safeParse(name).success, name).toBe(true)
    }
    const cut = sections.flatMap((section) => [...section.values()].filter(({ name }) => isCutName(name)))
    expect(cut.length).toBeGreaterThanOrEqual(2)
    const listed = notes.filter(({ reason }) => reason.startsWith('Its name has more than 100 characters'))
    expect(listed.map(({ name }) => name).toSorted()).toEqual(cut.map(({ name }) => String(name)).toSorted())
    expect(notes.filter(({ outcome }) => outcome === 'SKIPPED')).toEqual([])
    // The order in the file, and what else is in it, changes nothing.
    const again = read('third one', 'other', 'one')
    for (const [key, fields] of objects.monitors) expect(again.objects.monitors.get(key)?.['name']).toBe(fields['name'])
    for (const [key, fields] of objects.services) expect(again.objects.services.get(key)).toEqual(fields)
  })

  test('name the services of subscribers as those of components are named', () => {
    const name = `${long}API`
    const list = `email,services\nana@a.example,${name}\n${'x'.repeat(400)}@a.example,\n`
    const { records, notes } = translate({ source: 'statuspage', name: '' }, list)
    expect(records.subscribers).toEqual([{ address: 'ana@a.example', services: [nameOf(name, '')] }])
    expect(notes).toMatchObject([{ outcome: 'SKIPPED', name: 'Line 3', reason: 'Its address is too long.' }])
  })

  test('are valid names whatever they consist of', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 95, maxLength: 130 }), (text) => {
        const name = nameOf(text, 'Otherwise')
        expect(nameText.safeParse(name).success).toBe(true)
        expect(nameOf(name, '')).toBe(name)
      }),
    )
    expect(nameOf(`${'x'.repeat(87)}😀${'y'.repeat(20)}`, '')).toMatch(/^x{87}… \([0-9a-f]{8}\)$/)
    expect(nameOf('x'.repeat(100), '')).toBe('x'.repeat(100))
  })
})
