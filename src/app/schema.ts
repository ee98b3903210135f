import { lexicographicSortSchema, printSchema } from 'graphql'
import { guardPages, hideNodes, servicesSeenOf } from '../account/graphql/node-visibility.ts'
import { letOperatorAct } from '../account/graphql/on-behalf-of.ts'
import { completeListsInSlices } from '../graphql/execution/list-slicing.ts'
import { builder } from '../graphql/schema/builder.ts'
import { describeCommon } from '../graphql/schema/descriptions.ts'
import '../graphql/schema/scalars.ts'
import '../graphql/schema/errors.ts'
import '../account/graphql/index.ts'
import '../account/graphql/private-targets.ts'
import '../people/graphql/index.ts'
import '../blacklist/graphql/index.ts'
import '../status/graphql/index.ts'
import { narrowToPages } from '../status/graphql/page-scope.ts'
import '../monitoring/graphql/index.ts'
import '../notification/graphql/index.ts'
import '../alerting/graphql/index.ts'
import '../integration/graphql/index.ts'
import '../billing/graphql/index.ts'
import '../status-page/graphql/index.ts'
import '../configuration/graphql/index.ts'
import '../import/graphql/index.ts'
import '../diagnosis/graphql/index.ts'

/** The executable schema of all rooms. Not sorted, which would build it twice. */
export const schema = completeListsInSlices(
  guardPages(
    hideNodes(letOperatorAct(narrowToPages(describeCommon(builder.toSchema({ sortSchema: false })), servicesSeenOf))),
  ),
)

/** Returns the content of `schema.graphql`. */
export function printedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`
}
