import { gzipSync } from 'node:zlib'
import { ask, type HostileCase, mutate, query, type Target } from './case.ts'
import { mutation, owned } from './inputs.ts'

const planned = (name: string, yaml: string, more: object = {}) =>
  mutation(`a configuration file: ${name}`, 'planConfiguration', () => ({ yaml, ...more }))
const compressed = (name: string, content: string | Buffer) =>
  planned(name, gzipSync(content, { level: 9 }).toString('base64'), { isCompressed: true })

const bomb = (levels: number) =>
  Array.from({ length: levels }, (_, level) =>
    level === 0 ? 'a0: &a0 [x, x]' : `a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`,
  ).join('\n')
const services = (count: number, member = '') =>
  `allclear: 1\nservices:\n${Array.from({ length: count }, (_, n) => `  s${n}: {name: Hostile ${n}${member}}\n`).join('')}`
const monitors = (count: number) =>
  `allclear: 1\nmonitors:\n${Array.from({ length: count }, (_, n) => `  m${n}: {name: Hostile ${n}, heartbeat: {}}\n`).join('')}`
/** Monitors with so many headers each, whose values are literal secrets. */
const secrets = (count: number, headers: number) =>
  `allclear: 1\nmonitors:\n${Array.from({ length: count }, (_, n) => `  m${n}: {name: N, http: {url: "https://a.example", headers: [${'{name: Authorization, value: Bearer a},'.repeat(headers)}]}}\n`).join('')}`
const variables = (count: number, length: number) =>
  Array.from({ length: count }, (_, n) => ({ name: `V${n}`, value: 'v'.repeat(length) }))

/** A placeholder for the first value. */
const placeholder = `$${'{V0}'}`

/** Lets a file manage everything that the largest organization has, and unlocks and locks one of its objects. */
async function applyExport(target: Target): Promise<number> {
  const owner = { ...target, key: target.large.key }
  type Answer = { readonly organization: { readonly configuration: string } }
  const { organization } = await query<Answer>(owner, '{ organization { configuration } }')
  const file = { yaml: gzipSync(organization.configuration).toString('base64'), isCompressed: true }
  const plan = '... on ConfigurationPlan { planHash }'
  const { planHash } = await mutate<{ planHash: string }>(owner, 'planConfiguration', file, plan)
  await mutate(owner, 'applyConfiguration', { ...file, planHash, lock: false }, plan)
  for (const field of ['lockManagedObject', 'unlockManagedObject']) {
    const document = `mutation ($id: ID!) { ${field}(id: $id) { ... on ManagedObject { isLocked } ... on Error { message } } }`
    await query(owner, document, { id: target.large.serviceIds[0] })
  }
  return 200
}

const locking = (name: string, field: string, id: string): HostileCase =>
  owned(`${field} of ${name}`, [200, 400], () => ({
    query: `mutation ($id: ID!) { ${field}(id: $id) { __typename } }`,
    variables: { id },
  }))

/** Configuration files, and locks of the objects that they manage. */
export const configurations: readonly HostileCase[] = [
  planned('30 levels of aliases', `allclear: 1\n${bomb(30)}\nservices: *a29`),
  planned('ten thousand aliases', `allclear: 1\na: &a [${'x,'.repeat(1000)}]\nb: [${'*a,'.repeat(10_000)}]`),
  planned('an alias of itself', 'allclear: 1\nservices: &a\n  x: *a\n  <<: *a\n'),
  planned('100 kB of brackets', `allclear: 1\nservices: ${'['.repeat(100_000)}`),
  // Parsed, they take more memory than the program that reads them may have.
  compressed('1 MB of empty objects', `allclear: 1\nservices: [${'{},'.repeat(330_000)}]`),
  compressed('1 MB of closing brackets', ']'.repeat(1_000_000)),
  planned('100 kB of indentation', Array.from({ length: 430 }, (_, n) => `${' '.repeat(n)}a:\n`).join('')),
  planned('30,000 tags and anchors', `allclear: 1\nservices: [${'!a &b '.repeat(15_000)}x]`),
  planned(
    'members of every object',
    'allclear: 1\n__proto__: {a: 1}\nservices: {__proto__: {name: a}, constructor: {}}',
  ),
  planned('one text of 100 kB', `allclear: 1\nservices: {a: {name: "${'\\u0301'.repeat(16_000)}"}}`),
  planned('a key of 100 kB', `allclear: 1\nservices: {${'k'.repeat(100_000)}: {name: a}}`),
  compressed('90 MB of zeros, compressed', Buffer.alloc(90_000_000)),
  compressed('a megabyte of nothing', `allclear: 1\n${'\n'.repeat(900_000)}`),
  compressed('a megabyte of brackets', `allclear: 1\nservices: ${'['.repeat(900_000)}`),
  compressed('a megabyte of one text', `allclear: 1\nservices: {a: {name: ${'n'.repeat(900_000)}}}`),
  compressed('50,000 objects', services(50_000).slice(0, 990_000)),
  compressed('2,000 objects of one kind', services(2000)),
  compressed('2,000 monitors', monitors(2000)),
  compressed('2,000 objects, each with mistakes', services(2000, ', bad: 1, status: NONE')),
  compressed('1,000 monitors with ten secrets each', secrets(1000, 10)),
  compressed(
    'a header of 900 kB of places and dollars',
    `allclear: 1\nmonitors: {a: {name: A, http: {headers: [{name: Authorization, value: "${'$${A}'.repeat(150_000)}"}]}}}`,
  ),
  compressed('2,000 services of a group that is none', services(2000, ', group: none')),
  compressed(
    '2,000 moves in a circle',
    `allclear: 1\nmoved:\n${Array.from({ length: 2000 }, (_, n) => `  - {section: services, from: s${n}, to: s${(n + 1) % 2000}}\n`).join('')}`,
  ),
  planned('a value of 100 kB in a thousand places', services(1000, ` ${placeholder}`), {
    variables: variables(1, 80_000),
  }),
  planned('a thousand values', services(10), { variables: variables(1000, 80) }),
  planned('values that name values', `allclear: 1\nservices: {a: {name: "${placeholder}"}}`, {
    variables: [{ name: 'V0', value: placeholder.repeat(10_000) }],
  }),
  planned('declared as compressed, but not compressed', 'a'.repeat(100_000), { isCompressed: true }),
  mutation('an invalid plan of 100 kB, applied', 'applyConfiguration', () => ({
    yaml: services(500),
    planHash: 'h'.repeat(50_000),
    maxDeletions: 2_000_000_000,
  })),
  { name: 'a file of all that the largest organization has, applied', statuses: [200], send: applyExport },
  {
    name: 'twenty plans of 1,000 services at once',
    statuses: [200, 503],
    async send(target) {
      const input = { yaml: gzipSync(services(1000)).toString('base64'), isCompressed: true }
      const document = 'mutation ($input: PlanConfigurationInput!) { planConfiguration(input: $input) { __typename } }'
      const body = JSON.stringify({ query: document, variables: { input } })
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${target.key}` }
      const sent = Array.from({ length: 20 }, () => ask(target.url, '/graphql', { method: 'POST', headers, body }))
      return Math.max(...(await Promise.all(sent)))
    },
  },
  ...['lockManagedObject', 'unlockManagedObject'].flatMap((field) => [
    locking('an id of 100 kB', field, 'svc_'.repeat(25_000)),
    locking('an id of wildcards', field, '%_\\\u0000'),
  ]),
]
