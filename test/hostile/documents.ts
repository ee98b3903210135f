import { ask, graphql, type HostileCase, requesting } from './case.ts'

const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join(' ')

/** A document of 3.9 kB whose answer has 98 MB. */
export const introspection = `{ __schema { ${many(60, (n) => `a${n}: types { ...F }`)} } }
fragment F on __Type { fields { type { fields { ${many(300, (n) => `b${n}: name`)} } } } }`
const overlapping = `{ statusPage(slug: "a") { ${many(990, (n) => `name: ${n % 2 ? 'slug' : 'name'}`)} } }`
const nodes = `{ nodes(ids: [${many(4000, () => '"inc_000000000000000000000000"')}]) { id } }`
const fragments = `${many(200, (n) => `fragment F${n} on StatusPage { ...F${n + 1} ...F${n + 1} }`)} fragment F200 on StatusPage { name } { statusPage(slug: "a") { ...F0 } }`
const circle = 'fragment A on StatusPage { ...B } fragment B on StatusPage { ...A } { statusPage(slug: "a") { ...A } }'
/** An invalid document gets 400, or 200 with errors if the client accepts `application/json`. */
const refused = [200, 400, 413, 0]
let signUps = 0
const json = (query: string) => JSON.stringify({ query })

const times = <T>(count: number, of: (index: number) => T) => Array.from({ length: count }, (_, n) => of(n))
const members = (count: number) => Object.fromEntries(times(count, (n) => [`nam${n}`, 1]))
const creating = 'mutation ($input: CreateMonitorsInput!) { createMonitors(input: $input) { __typename } }'
const subscribing = 'mutation ($input: SubscribeInput!) { subscribe(input: $input) { __typename } }'
const following = 'subscription ($slug: String!) { statusPageEvents(slug: $slug) { cursor } }'
/** Variables whose coercion takes long: for each name that is none, libraries look for the names that are meant. */
export const hostileVariables: readonly (readonly [string, { readonly query: string; readonly variables: object }])[] =
  [
    ['8,999 unknown members', { query: creating, variables: { input: { items: [members(8999)] } } }],
    [
      '90 objects of 90 unknown members',
      { query: creating, variables: { input: { items: times(90, () => members(90)) } } },
    ],
    ['40,000 empty objects', { query: creating, variables: { input: { items: times(40_000, () => ({})) } } }],
    ['9,900 empty objects', { query: creating, variables: { input: { items: times(9900, () => ({})) } } }],
    ['an unknown member of 120,000 letters', { query: creating, variables: { input: { ['n'.repeat(120_000)]: 1 } } }],
    [
      'members named __proto__',
      { query: creating, variables: { input: { items: [JSON.parse('{"__proto__":{"a":1}}')] } } },
    ],
    [
      '9,000 unknown topics',
      { query: subscribing, variables: { input: { slug: 'a', topics: times(9000, (n) => `INCIDEN${n}`) } } },
    ],
    [
      '11,000 topics',
      { query: subscribing, variables: { input: { slug: 'a', topics: times(11_000, () => 'INCIDENT') } } },
    ],
    ['8,999 members in place of a slug', { query: following, variables: { slug: members(8999) } }],
    ['60,000 variables that no one needs', { query: '{ __typename }', variables: { a: times(60_000, () => 1) } }],
  ]
/** Literals of the same kind. */
const hostileLiterals = [
  [
    '1,300 unknown members',
    `mutation { createMonitors(input: { items: [{ ${many(1300, (n) => `nam${n}: 1`)} }] }) { __typename } }`,
  ],
  ['1,900 empty objects', `mutation { createMonitors(input: { items: [${'{}'.repeat(1900)}] }) { __typename } }`],
  ['1,300 unknown arguments', `{ statusPage(${many(1300, (n) => `slu${n}: 1`)}) { id } }`],
  ['3,000 unknown fields', `{ ${many(3000, (n) => `organizatio${n}`)} }`],
  ['500 unknown types', `{ ${many(500, (n) => `... on MutationRotateAlertChannelSecretResul${n} { a }`)} }`],
  [
    '500 variables of unknown types',
    `query (${many(500, (n) => `$a${n}: MutationRotateAlertChannelSecretResul${n}`)}) { __typename }`,
  ],
  ['a field of 100,000 letters', `{ ${'n'.repeat(100_000)} }`],
  [
    '300 operations that share 200 fragments',
    `${many(300, (n) => `query Q${n} { ...F0 }`)} ${many(200, (n) => `fragment F${n} on Query { ...F${n + 1} }`)} fragment F200 on Query { __typename }`,
  ],
] as const
/** A list of ids that a thousand fields name, which is more than all of them may cost. */
const sharedIds = {
  query: `query ($ids: [ID!]!) { ${many(500, (n) => `a${n}: nodes(ids: $ids) { id }`)} }`,
  variables: { ids: times(30_000, () => '') },
}

const pattern = '%_\\\\'.repeat(25)
/** GraphQL documents, and bodies in their place. */
export const documents: readonly HostileCase[] = [
  {
    name: 'two hundred organizations of one visitor, twenty at a time',
    statuses: [200],
    async send({ url }) {
      const makes = () =>
        `createOrganization(input: { name: "A", slug: "hostile-sign-up-${process.pid}-${++signUps}", contactEmail: "a@b.example" }) { __typename }`
      const statuses: number[] = []
      for (let n = 0; n < 10; n++) {
        const body = json(`mutation { ${many(20, (index) => `a${index}: ${makes()}`)} }`)
        statuses.push(
          await ask(url, '/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
        )
      }
      return statuses.find((status) => status !== 200) ?? 200
    },
  },
  graphql('introspection that multiplies', refused, json(introspection)),
  graphql('990 fields that overlap', refused, json(overlapping)),
  graphql('4,000 ids of nodes', refused, json(nodes)),
  graphql('a field 3,000 times', refused, json(`{ ${many(3000, (n) => `a${n}: __typename`)} }`)),
  graphql('a page 500 times', refused, json(`{ ${many(500, (n) => `a${n}: statusPage(slug: "a") { name }`)} }`)),
  graphql('fragments that double 200 times', refused, json(fragments)),
  graphql('fragments in a circle', refused, json(circle)),
  graphql('20,000 opening braces', refused, json('{'.repeat(20_000))),
  graphql('a list of 20,000 brackets', refused, json(`{ nodes(ids: ${'['.repeat(20_000)}) { id } }`)),
  graphql('20,000 directives', refused, json(`{ __typename ${many(7000, () => '@skip(if:true)')} }`)),
  graphql('JSON of brackets alone', refused, '['.repeat(60_000)),
  graphql(
    'variables that nest',
    refused,
    `{"query":"{ __typename }","variables":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`,
  ),
  graphql('a batch of 5,000', refused, `[${many(5000, () => '{"query":"{a}"}').replaceAll(' ', ',')}]`),
  graphql('2 MB', refused, json(`{ __typename } #${'x'.repeat(2 ** 21)}`)),
  ...hostileVariables.flatMap(([name, body]) => [
    graphql(`variables with ${name}`, refused, body),
    graphql(`variables with ${name}, with a key`, refused, body, true),
    requesting(`variables with ${name}, for server-sent events`, refused, '/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify(body),
    }),
  ]),
  ...hostileLiterals.map(([name, query]) => graphql(`a document with ${name}`, refused, json(query))),
  graphql('30,000 ids for each of 500 fields', refused, sharedIds),
  ...['', 'text/event-stream', 'with a key'].map(
    (how): HostileCase => ({
      name: `300 documents that are parsed at once ${how}`,
      statuses: refused,
      async send(target) {
        const headers = {
          'content-type': 'application/json',
          ...(how === 'with a key' ? { authorization: `Bearer ${target.key}` } : { accept: how || '*/*' }),
        }
        const sent = times(300, (n) => {
          const body = json(`{ ${many(450, (field) => `a${field}: nam${field}(id: ${n})`)} }`)
          return ask(target.url, '/graphql', { method: 'POST', headers, body })
        })
        return Math.max(...(await Promise.all(sent)))
      },
    }),
  ),
  {
    ...graphql('a list of 1,000 statuses', refused, ''),
    send: (target) => {
      const statuses = many(1000, () => 'RESOLVED')
      const query = `{ organization { incidents(filter: { status: [${statuses}], text: "${pattern}" }) { totalCount } } }`
      return graphql('', refused, json(query), true).send(target)
    },
  },
  requesting(
    'introspection that multiplies, over GET',
    [...refused, 414, 431],
    `/graphql?query=${encodeURIComponent(introspection)}`,
  ),
  requesting(
    'variables with 900 unknown members, over GET',
    [...refused, 414, 431],
    `/graphql?query=${encodeURIComponent('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }')}&variables=${encodeURIComponent(JSON.stringify({ ids: [members(900)] }))}`,
  ),
  requesting(
    'variables that are not JSON, over GET',
    [400],
    `/graphql?query={__typename}&variables=${'['.repeat(4000)}`,
  ),
]
