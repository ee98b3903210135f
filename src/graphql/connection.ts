import type { ObjectRef } from '@pothos/core'
import { getRefFromModel, queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type PrismaTypes from '../generated/pothos-types.ts'
import type { GraphContext } from './builder.ts'
import { builder } from './builder.ts'
import { costs } from './cost.ts'
import type { Edge, Page } from './keyset.ts'
import { PAGE } from './keyset.ts'

type Model = keyof PrismaTypes
type Types = typeof builder extends PothosSchemaTypes.SchemaBuilder<infer T> ? T : never
type NodeRef<Row> = ObjectRef<Types, Row>
type ConnectionRef<Row> = ObjectRef<Types, Page<Row>>

/** The arguments of every connection; `pageOf` reads them. */
export const pageArgs = builder.args((t) => ({
  first: t.int({
    required: false,
    description: `How many to return, from the start: at most ${PAGE.most}, and ${PAGE.usual} when neither \`first\` nor \`last\` is given.`,
  }),
  after: t.string({ required: false, description: 'Return those that come after this cursor.' }),
  last: t.int({ required: false, description: `How many to return, from the end: at most ${PAGE.most}.` }),
  before: t.string({ required: false, description: 'Return those that come before this cursor.' }),
}))

const PageInfo = builder.objectRef<Page<unknown>>('PageInfo').implement({
  description: 'Where a page of a connection stands.',
  fields: (t) => ({
    hasNextPage: t.boolean({
      description: 'Whether there is more after this page.',
      resolve: (page) => page.hasNextPage(),
    }),
    hasPreviousPage: t.boolean({
      description: 'Whether there is more before this page.',
      resolve: (page) => page.hasPreviousPage(),
    }),
    startCursor: t.string({
      nullable: true,
      description: 'The cursor of the first edge; null when the page is empty.',
      resolve: async (page) => (await page.edges())[0]?.cursor ?? null,
    }),
    endCursor: t.string({
      nullable: true,
      description: 'The cursor of the last edge: pass it as `after` to read on. Null when the page is empty.',
      resolve: async (page) => (await page.edges()).at(-1)?.cursor ?? null,
    }),
  }),
})

/** The connection's own field has been multiplied by the size of the page. */
const ONCE = costs({ items: 1 })

/** The connection types made so far, by the name of their node's type. */
const connections = new Map<string, ConnectionRef<unknown>>()

/** The connection type of a model's rows: all fields that return them share it. */
export function connectionOf<M extends Model>(model: M): ConnectionRef<PrismaTypes[M]['Shape']> {
  // The reference stands for the model's rows; it also carries the plugin's own types, which are of no use here.
  return connectionOfNode(model, getRefFromModel(model, builder) as unknown as NodeRef<PrismaTypes[M]['Shape']>)
}

/** The connection type of nodes that are no rows of a model. */
export function connectionOfNode<Row>(name: string, node: NodeRef<Row>): ConnectionRef<Row> {
  const known = connections.get(name) ?? implementConnection(name, node as NodeRef<unknown>)
  connections.set(name, known)
  // Made for the node of this name, whose rows these are.
  return known as ConnectionRef<Row>
}

function implementConnection(name: string, node: NodeRef<unknown>): ConnectionRef<unknown> {
  const EdgeRef = builder.objectRef<Edge<unknown>>(`${name}Edge`).implement({
    description: `A position in a list of type ${name}, with what stands there.`,
    fields: (t) => ({
      node: t.field({ type: node, description: 'What stands there.', resolve: ({ node }) => node }),
      cursor: t.exposeString('cursor', {
        description: 'The position, opaque. It stays valid when the node is deleted.',
      }),
    }),
  })
  return builder.objectRef<Page<unknown>>(`${name}Connection`).implement({
    description: `A page of a list of type ${name}.`,
    fields: (t) => ({
      edges: t.field({
        type: [EdgeRef],
        extensions: ONCE,
        description: 'The nodes of this page with their cursors.',
        resolve: async (page) => [...(await page.edges())],
      }),
      nodes: t.field({
        type: [node],
        extensions: ONCE,
        description: 'The nodes of this page, without cursors.',
        resolve: async (page) => (await page.edges()).map(({ node }) => node),
      }),
      pageInfo: t.field({ type: PageInfo, description: 'Where this page stands.', resolve: (page) => page }),
      totalCount: t.int({
        description: 'How many there are on all pages.',
        resolve: (page) => page.totalCount(),
      }),
    }),
  })
}

/** What Prisma has to include of a connection's rows for the fields that are asked of its nodes. */
export function nodeQuery(model: Model, context: GraphContext, info: GraphQLResolveInfo): object {
  return queryFromInfo({ context, info, typeName: model, paths: [['edges', 'node'], ['nodes']] })
}
