import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { isJsonObject } from '../../src/core/json-object.ts'
import { translateBetterStack } from '../../src/import/better-stack.ts'
import { translateBlackboxExporter } from '../../src/import/blackbox-exporter.ts'
import { translateCachet } from '../../src/import/cachet.ts'
import { translateCachetTables } from '../../src/import/cachet-tables.ts'
import { Fields } from '../../src/import/fields.ts'
import { translateGatus } from '../../src/import/gatus.ts'
import { translateHetrixTools } from '../../src/import/hetrix-tools.ts'
import { translateInstatus } from '../../src/import/instatus.ts'
import { noteLosses } from '../../src/import/losses.ts'
import { translateOpenStatus } from '../../src/import/open-status.ts'
import { type Source, sources } from '../../src/import/source-names.ts'
import { translateStatuspage } from '../../src/import/statuspage.ts'
import { Draft, type Drafted } from '../../src/import/translation.ts'
import { translateUpptime } from '../../src/import/upptime.ts'
import { translateUptimeKuma } from '../../src/import/uptime-kuma.ts'
import { translateUptimeRobot } from '../../src/import/uptime-robot.ts'
import * as samples from './samples.ts'

type Path = readonly (string | number)[]

/** Returns the paths of all objects in a value. */
function objectsIn(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => objectsIn(item, [...path, index]))
  if (!isJsonObject(value)) return []
  return [path, ...Object.entries(value).flatMap(([name, field]) => objectsIn(field, [...path, name]))]
}

/** Returns a copy with a field added to the object at a path. */
function withField(value: unknown, path: Path, name: string, added: unknown): unknown {
  const copy: unknown = structuredClone(value)
  const object = path.reduce((at, step) => (at as Record<string | number, unknown>)[step], copy)
  ;(object as Record<string, unknown>)[name] = added
  return copy
}

const json = (translate: (text: string) => Drafted) => (value: unknown) => translate(JSON.stringify(value))
const yaml = (translate: (text: string) => Drafted) => (value: unknown) => translate(stringify(value))

/** A sample of each source, and the objects whose keys are names that people choose, such as headers. */
const files: readonly {
  readonly name: string
  readonly source: Source
  readonly sample: unknown
  readonly translate: (value: unknown) => Drafted
  readonly named?: readonly string[]
}[] = [
  { name: 'Uptime Kuma', source: 'uptime-kuma', sample: samples.uptimeKuma, translate: json(translateUptimeKuma) },
  {
    name: 'Gatus',
    source: 'gatus',
    sample: samples.gatus,
    translate: yaml(translateGatus),
    named: ['alerting', 'endpoints.headers'],
  },
  {
    name: 'Atlassian Statuspage',
    source: 'statuspage',
    sample: samples.statuspage,
    translate: json(translateStatuspage),
  },
  {
    name: 'OpenStatus',
    source: 'openstatus',
    sample: samples.openStatus,
    translate: yaml(translateOpenStatus),
    named: ['', 'api.request.headers'],
  },
  { name: 'Cachet 2', source: 'cachet', sample: samples.cachet2, translate: json(translateCachet) },
  { name: 'Cachet 3', source: 'cachet', sample: samples.cachet3, translate: json(translateCachet) },
  {
    name: 'the tables of Cachet',
    source: 'cachet',
    sample: samples.cachetTables,
    translate: (value) => translateCachetTables(new Map(Object.entries(value as typeof samples.cachetTables))),
  },
  {
    name: 'UptimeRobot 2',
    source: 'uptimerobot',
    sample: samples.uptimeRobot2,
    translate: json(translateUptimeRobot),
    named: ['monitors.custom_http_headers'],
  },
  {
    name: 'UptimeRobot 3',
    source: 'uptimerobot',
    sample: samples.uptimeRobot3,
    translate: json(translateUptimeRobot),
    named: ['data.customHttpHeaders', 'data.postValueData'],
  },
  { name: 'Better Stack', source: 'betterstack', sample: samples.betterStack, translate: json(translateBetterStack) },
  {
    name: 'Instatus',
    source: 'instatus',
    sample: samples.instatus,
    translate: json(translateInstatus),
    named: ['components.name', 'incidents.name', 'maintenances.name', 'pages.name'],
  },
  {
    name: 'Upptime',
    source: 'upptime',
    sample: samples.upptime,
    translate: yaml(translateUpptime),
  },
  {
    name: 'the blackbox exporter',
    source: 'blackbox-exporter',
    sample: samples.blackboxExporter,
    translate: yaml(translateBlackboxExporter),
    named: ['modules', 'modules.web.http.headers'],
  },
  { name: 'HetrixTools', source: 'hetrixtools', sample: samples.hetrixTools, translate: json(translateHetrixTools) },
]

test('every source has such a file', () => {
  expect([...new Set(files.map(({ source }) => source))].toSorted()).toEqual([...sources].toSorted())
})

const SECRET = 'zz-secret-value'
/** A value of each kind, including those that are easily taken for none. */
const values = [SECRET, 7, 0, true, false, { key: SECRET }, [SECRET], [{ key: SECRET }]]
const steps = (path: Path) => path.filter((step) => typeof step === 'string').join('.')

describe.each(files)('a file of $name', ({ sample, translate, named = [] }) => {
  const before = translate(sample)

  test('is imported completely, or with notes on the rest', () => {
    expect(before.notes.map(({ name, reason }) => `${name}: ${reason}`)).toMatchSnapshot()
  })

  test('has a note on an unknown key of each of its objects', () => {
    const silent = objectsIn(sample)
      .filter((path) => !named.includes(steps(path)))
      .filter((path) => {
        const { notes } = translate(withField(sample, path, 'zzUnknown', SECRET))
        return !notes.some(({ name, reason }) => `${name} ${reason}`.includes('zzUnknown'))
      })
    expect(silent.map(steps)).toEqual([])
  })

  test('has the note whatever the value is, and never shows it', () => {
    const path = objectsIn(sample).findLast((each) => !named.includes(steps(each))) ?? []
    for (const value of values) {
      const { notes } = translate(withField(sample, path, 'zzUnknown', value))
      expect(notes.filter(({ name, reason }) => `${name} ${reason}`.includes('zzUnknown'))).toHaveLength(1)
      expect(JSON.stringify(notes)).not.toContain(SECRET)
    }
  })
})

describe('the notes on lost keys', () => {
  const notesOn = (value: object, read: (file: Fields) => void = () => {}) => {
    const draft = new Draft()
    const file = new Fields(value)
    read(file)
    noteLosses(draft, [file])
    return draft.notes.map(({ section, name, reason }) => `${section} ${name}: ${reason}`)
  }

  test('count the objects with the same key and name the first of them', () => {
    const monitors = Array.from({ length: 11 }, (_, index) => ({ name: `M${index}`, ui: { a: 1 } }))
    expect(
      notesOn({ monitors }, (file) => {
        for (const each of file.list('monitors')) new Fields(each).text('name')
      }),
    ).toEqual(['monitors monitors.ui: This key is not imported: an object. Its keys: a. In M0, M1, M2 and 8 more.'])
  })

  test.each([
    ['text of a list', { a: [1] }, (file: Fields) => file.text('a'), 'a list'],
    ['a text of a boolean', { a: true }, (file: Fields) => file.text('a'), 'a boolean'],
    ['a number of a text', { a: 'soon' }, (file: Fields) => file.number('a'), 'a text'],
    ['a boolean of a text', { a: 'perhaps' }, (file: Fields) => file.isTrue('a'), 'a text'],
    ['a list of an object', { a: { b: 1 } }, (file: Fields) => file.list('a'), 'an object'],
    ['an object of a text', { a: 'b' }, (file: Fields) => file.fields('a'), 'a text'],
    ['a meaning that a text lacks', { a: 'b' }, (file: Fields) => file.parsed('a', () => undefined), 'a text'],
    ['an object without its keys', { a: { b: 1 } }, (file: Fields) => file.get('a'), 'an object'],
  ])('reading %s reads nothing', (_, value, read, kind) => {
    expect(notesOn(value, read)).toEqual([expect.stringMatching(`^settings a: This key is not imported: ${kind}\\.`)])
  })

  test.each([
    ['yes', true],
    ['On', true],
    ['no', false],
    ['OFF', false],
    [0, false],
    ['true', true],
  ])('%j is a boolean', (value, expected) => {
    const file = new Fields({ a: value })
    expect([file.isTrue('a'), file.isFalse('a')]).toEqual([expected, !expected])
    expect([...file.unread()]).toEqual([])
  })

  test('keys without a value lose nothing', () => {
    expect(notesOn({ a: null, b: '', c: [], d: {} })).toEqual([])
  })

  test('are limited in number and length, on one line', () => {
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 1]))
    const notes = notesOn(wide)
    expect(notes).toHaveLength(301)
    expect(notes.at(-1)).toBe('settings 9700 more keys: These keys are not imported.')
    const [long = ''] = notesOn({ [`a\n${'b'.repeat(5000)}`]: 1 })
    expect(long.length).toBeLessThan(200)
    expect(long).not.toContain('\n')
  })
})
