import { graphql, type HostileCase, requesting } from './case.ts'

const many = (count: number, of: (index: number) => string) => Array.from({ length: count }, (_, n) => of(n)).join(' ')

/** 3.9 kB whose answer has 98 MB. */
const introspection = `{ __schema { ${many(60, (n) => `a${n}: types { ...F }`)} } }
fragment F on __Type { fields { type { fields { ${many(300, (n) => `b${n}: name`)} } } } }`
const overlapping = `{ statusPage(slug: "a") { ${many(990, (n) => `name: ${n % 2 ? 'slug' : 'name'}`)} } }`
const nodes = `{ nodes(ids: [${many(4000, () => '"inc_000000000000000000000000"')}]) { id } }`
const fragments = `${many(200, (n) => `fragment F${n} on StatusPage { ...F${n + 1} ...F${n + 1} }`)} fragment F200 on StatusPage { name } { statusPage(slug: "a") { ...F0 } }`
const circle = 'fragment A on StatusPage { ...B } fragment B on StatusPage { ...A } { statusPage(slug: "a") { ...A } }'
const json = (query: string) => JSON.stringify({ query })

/** Documents of GraphQL, and bodies that should be some. */
export const documents: readonly HostileCase[] = [
  graphql('introspection that multiplies', [400], json(introspection)),
  graphql('990 fields that overlap', [400], json(overlapping)),
  graphql('4,000 ids of nodes', [400], json(nodes)),
  graphql('a field 3,000 times', [200, 400], json(`{ ${many(3000, (n) => `a${n}: __typename`)} }`)),
  graphql('a page 500 times', [200, 400], json(`{ ${many(500, (n) => `a${n}: statusPage(slug: "a") { name }`)} }`)),
  graphql('fragments that double 200 times', [200, 400], json(fragments)),
  graphql('fragments in a circle', [400], json(circle)),
  graphql('20,000 opening braces', [400], json('{'.repeat(20_000))),
  graphql('a list of 20,000 brackets', [400], json(`{ nodes(ids: ${'['.repeat(20_000)}) { id } }`)),
  graphql('20,000 directives', [400], json(`{ __typename ${many(7000, () => '@skip(if:true)')} }`)),
  graphql('JSON of brackets alone', [400], '['.repeat(60_000)),
  graphql(
    'variables that nest',
    [200, 400],
    `{"query":"{ __typename }","variables":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`,
  ),
  graphql('a batch of 5,000', [400], `[${many(5000, () => '{"query":"{a}"}').replaceAll(' ', ',')}]`),
  graphql('2 MB', [400, 413, 0], json(`{ __typename } #${'x'.repeat(2 ** 21)}`)),
  requesting(
    'introspection that multiplies, over GET',
    [400, 414, 431],
    `/graphql?query=${encodeURIComponent(introspection)}`,
  ),
]
