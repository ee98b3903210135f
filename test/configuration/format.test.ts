// biome-ignore-all lint/suspicious/noTemplateCurlyInString: files contain such placeholders.
import { describe, expect, test } from 'vitest'
import type { Existing } from '../../src/configuration/current.ts'
import { readConfiguration } from '../../src/configuration/format.ts'
import { assignKeys } from '../../src/configuration/keys.ts'
import { escapeText } from '../../src/configuration/sections.ts'
import { readYaml, type YamlText } from '../../src/configuration/yaml-text.ts'
import { Invalid } from '../../src/core/errors.ts'

const values = new Map([['TOKEN', 'a"b\n${TOKEN}']])

function read(text: string): YamlText {
  const found = readYaml(text)
  if ('lines' in found) return found
  throw new Invalid('INVALID_INPUT', 'Not read', found)
}

const configurationOf = async (text: string) => readConfiguration('org', read(text), values)

async function problems(text: string): Promise<string[]> {
  try {
    await configurationOf(text)
    return []
  } catch (error) {
    if (!(error instanceof Invalid)) throw error
    return error.issues.map(({ line, path, message }) => `${line ?? '-'} ${path.join('.')}: ${message}`)
  }
}

async function service(text: string): Promise<unknown> {
  const { objects } = await configurationOf(`allclear: 1\nservices:\n  api:\n    name: ${text}`)
  return objects.services.get('api')?.['name']
}

describe('a configuration file', () => {
  test.each([
    ['services: {}', ['- allclear: must be 1, the version of this format']],
    ['allclear: 2', ['1 allclear: must be 1, the version of this format']],
    ['allclear: 1\nservices:\n  - name: A', ['2 services: must be an object']],
    ['- a', [expect.stringContaining('- :')]],
    ['allclear: 1\nservices:\n  api: {}', ['3 services.api.name: is required']],
    ['allclear: 1\nservices:\n  API: { name: A }', [expect.stringMatching(/^3 services\.API: /)]],
    ['allclear: 1\nservices:\n  __proto__: { name: A }', [expect.stringMatching(/__proto__/)]],
    ['allclear: 1\nservices:\n  a:\n    name: A\n    colour: red', [expect.stringMatching(/^4? ?.*colour/)]],
    ['allclear: 1\nservices:\n  a: { name: A }\n  a: { name: B }', ['4 : repeats a key']],
    ['a:\n  b: 1\n c: 2', ['3 : is indented differently from its neighbours']],
    ['a: "b', ['1 : lacks a closing quote or bracket, or another character']],
    ['a:\n\tb: 1', ['2 : is indented with a tab; use spaces']],
    ['a: b: c', ['1 : must begin on a line of its own']],
    ['a: b\nc: @d', ['2 : is not valid YAML']],
    [
      'allclear: 1\nservices:\n  a: { name: "${OTHER}" }',
      ['3 services.a.name: ${OTHER} has no value: set OTHER in the environment'],
    ],
    [
      'allclear: 1\nmoved:\n  - { from: services.a, to: monitors.b }',
      [expect.stringMatching(/^3 moved\.0\.to: must be in the same section/)],
    ],
    [
      'allclear: 1\nmoved:\n  - { from: services.a, to: services.b }',
      [expect.stringMatching(/^3 moved\.0\.to: must be in the file/)],
    ],
    ['a: *b', ['- : has an alias without an anchor before it']],
    ['a: [', ['1 : lacks a closing bracket, or is indented too little']],
    ['a: 1\n---\na: 2', ['2 : begins a second document; a file has only one']],
    [
      'allclear: 1\nx: &x { name: A }\nservices:\n  a:\n    <<: *x',
      ['5 <<: is a merge key, which files here do not have: repeat the fields in each place'],
    ],
    [
      '%YAML 1.1\n---\n<<: [1]',
      ['3 <<: is a merge key, which files here do not have: repeat the fields in each place'],
    ],
  ])('refuses %j', async (text, expected) => {
    expect(await problems(text)).toEqual(expected)
  })

  test('of many objects is read completely, and every error in it is reported', async () => {
    const services = Array.from({ length: 250 }, (_, number) => `  s${number}: { name: S${number} }`)
    const { objects } = await configurationOf(['allclear: 1', 'services:', ...services].join('\n'))
    expect([...objects.services.keys()]).toEqual(services.map((_, number) => `s${number}`))
    const wrong = services.with(120, '  s120: {}').with(249, '  s249: { name: 1 }')
    const found = await problems(['services:', ...wrong, 'pages: 1'].join('\n'))
    expect(found.map((each) => each.split(' ')[1])).toEqual([
      'allclear:',
      'pages:',
      'services.s120.name:',
      'services.s249.name:',
    ])
  })

  test('has limits on aliases, nesting and documents', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `l${level + 1}: &l${level + 1} [${Array(10).fill(`*l${level}`)}]`,
    )
    const hostile = [
      `l0: &l0 x\n${levels.join('\n')}`,
      '['.repeat(50_000),
      `${'- '.repeat(20_000)}x`,
      Array.from({ length: 1000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
      `a: ${'{ b: '.repeat(20_000)}`,
      'a: 1\n---\na: 2',
    ]
    for (const text of hostile) expect(await problems(text)).toEqual(expect.arrayContaining([expect.any(String)]))
    const wide = `a: &a [${Array(2000).fill('x')}]\nb: [${Array(90).fill('*a')}]`
    expect(await problems(wide)).toEqual(['- : is too large or nested too deeply'])
    expect(await problems('['.repeat(25) + ']'.repeat(25))).toEqual(['- : is too large or nested too deeply'])
  })

  test('inserts values from the environment as plain text, without further substitution', async () => {
    expect(await service('"x ${TOKEN}"')).toBe('x a"b\n${TOKEN}')
    expect(await service('"$${TOKEN}"')).toBe('${TOKEN}')
    for (const text of ['${', '$${A}', '$$', '${A}${', '$$$${B']) {
      expect(await service(JSON.stringify(escapeText(text)))).toBe(text)
    }
  })
})

describe('long texts', () => {
  const named = (name: string) => `allclear: 1\nservices: {a: {name: "${name}"}}`
  const tooLong = '2 services.a.name: must have at most 98304 characters'

  test('are refused before values are filled in, and when values make them longer', async () => {
    expect(await problems(named('$${A}'.repeat(20_000)))).toEqual([tooLong])
    expect(await problems(named('${TOKEN}'.repeat(12_000)))).toEqual([tooLong])
    // The longest text of an object, as it is exported.
    const text = '${}'.repeat(21_845)
    const { objects } = await configurationOf(named(escapeText(text)))
    expect(objects.services.get('a')).toEqual({ name: text })
  })

  test('of many values that are missing are reported for the first hundred', async () => {
    expect(await problems(named('${A}'.repeat(10_000)))).toHaveLength(100)
  })
})

describe('keys', () => {
  const existing = (name: string, id = name): Existing => ({
    ...{ section: 'services', id, name, subjectId: id },
    fields: { name },
  })

  test('are derived from names, are unique, and stay with managed objects', () => {
    const all = [
      existing('API'),
      existing('Api'),
      existing('Zahlungs-Dienst Öst'),
      existing('状態'),
      existing('x', 'managed'),
    ]
    const keys = assignKeys(all, [
      { section: 'services', key: 'api', objectId: 'managed' },
      { section: 'services', key: 'api-2', objectId: 'deleted' },
    ])
    expect(all.map(({ id }) => keys.keyOf(id))).toEqual(['api-3', 'api-4', 'zahlungs-dienst-ost', 'service', 'api'])
  })
})
