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
    'variables that are not JSON, over GET',
    [400],
    `/graphql?query={__typename}&variables=${'['.repeat(4000)}`,
  ),
]
