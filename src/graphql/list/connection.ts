import type { ObjectRef, OutputRef } from '@pothos/core'
import { getRefFromModel, queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type PrismaTypes from '../../generated/pothos-types.ts'
import { costs } from '../document/cost.ts'
import { PAGE_SIZE } from '../document/page-size.ts'
import { cacheable } from '../execution/cacheable.ts'
import type { GraphContext } from '../schema/builder.ts'
import { builder } from '../schema/builder.ts'
import type { Edge, Page } from './keyset.ts'

type Model = keyof PrismaTypes
type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never
type ConnectionRef<Row> = ObjectRef<Types, Page<Row>>

/** The arguments of every connection, which `pageOf` reads. */
export const pageArgs = builder.args((t) => ({
  first: t.int({
    required: false,
    description: `The number of items to return from the start, at most ${PAGE_SIZE.max}. Default: ${PAGE_SIZE.default}, unless \`last\` is given.`,
  }),
  after: t.string({ required: false, description: 'Returns items after this cursor.' }),
  last: t.int({
    required: false,
    description: `The number of items to return from the end, at most ${PAGE_SIZE.max}.`,
  }),
  before: t.string({ required: false, description: 'Returns items before this cursor.' }),
}))

const PageInfo = builder.objectRef<Page<unknown>>('PageInfo').implement({
  description: 'Information about a page of a connection.',
  extensions: cacheable('hasNextPage', 'hasPreviousPage', 'startCursor', 'endCursor'),
  fields: (t) => ({
    hasNextPage: t.boolean({
      description: 'Whether more items follow this page.',
      resolve: (page) => page.hasNextPage(),
    }),
    hasPreviousPage: t.boolean({
      description: 'Whether more items precede this page.',
      resolve: (page) => page.hasPreviousPage(),
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first item. Null: the page is empty.',
      resolve: async (page) => (await page.edges())[0]?.cursor ?? null,
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor of the last item: pass it as `after` to get the next page. Null: the page is empty.',
      resolve: async (page) => (await page.edges()).at(-1)?.cursor ?? null,
    }),
  }),
})

/** The cost of the connection's own field already includes the page size. */
const ONCE = costs({ items: 1 })

/** Connection types by the name of the node type. */
const connections = new Map<string, ConnectionRef<unknown>>()

/** Returns the connection type of a model, shared by all fields. */
export function connectionOf<M extends Model>(model: M): ConnectionRef<PrismaTypes[M]['Shape']> {
  // The reference also has types of the plugin, which are not needed here.
  return connectionOfNode(model, getRefFromModel(model, builder) as unknown as OutputRef<PrismaTypes[M]['Shape']>)
}

/** Returns the connection type of nodes that are not rows of a model. */
export function connectionOfNode<Row>(name: string, node: OutputRef<Row>): ConnectionRef<Row> {
  const known = connections.get(name) ?? implementConnection(name, node)
  connections.set(name, known)
  // Created for the node type of this name.
  return known as ConnectionRef<Row>
}

function implementConnection(name: string, node: OutputRef): ConnectionRef<unknown> {
  const EdgeRef = builder.objectRef<Edge<unknown>>(`${name}Edge`).implement({
    description: `One ${name} in a list, with its cursor.`,
    extensions: cacheable('node', 'cursor'),
    fields: (t) => ({
      node: t.field({ type: node, description: 'The item.', resolve: ({ node }) => node }),
      cursor: t.exposeString('cursor', {
        description: 'An opaque cursor. It stays valid after the item is deleted.',
      }),
    }),
  })
  return builder.objectRef<Page<unknown>>(`${name}Connection`).implement({
    description: `A page of a list of ${name} objects.`,
    extensions: cacheable('edges', 'nodes', 'pageInfo', 'totalCount'),
    fields: (t) => ({
      edges: t.field({
        type: [EdgeRef],
        extensions: ONCE,
        description: 'The items of this page with their cursors.',
        resolve: async (page) => [...(await page.edges())],
      }),
      nodes: t.field({
        type: [node],
        extensions: ONCE,
        description: 'The items of this page, without cursors.',
        resolve: async (page) => (await page.edges()).map(({ node }) => node),
      }),
      pageInfo: t.field({ type: PageInfo, description: 'Information about this page.', resolve: (page) => page }),
      totalCount: t.int({
        description: 'The number of items on all pages.',
        resolve: (page) => page.totalCount(),
      }),
    }),
  })
}

/** Returns the Prisma `include` for the selected fields of a connection's nodes. */
export function nodeQuery(model: Model, context: GraphContext, info: GraphQLResolveInfo): object {
  return queryFromInfo({ context, info, typeName: model, paths: [['edges', 'node'], ['nodes']] })
}
