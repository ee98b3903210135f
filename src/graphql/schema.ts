import { lexicographicSortSchema, printSchema } from 'graphql'
import { letOperatorAct } from './acting.ts'
import { builder } from './builder.ts'
import { describeCommon } from './descriptions.ts'
import './scalars.ts'
import './errors.ts'
import '../account/graphql.ts'
import '../blacklist/graphql.ts'
import '../status/graphql.ts'
import '../monitoring/graphql.ts'
import '../notification/graphql.ts'
import '../billing/graphql.ts'

/** The executable schema: every door of every feature, joined. */
export const schema = letOperatorAct(describeCommon(builder.toSchema()))

/** The schema as `schema.graphql` holds it. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`
}
