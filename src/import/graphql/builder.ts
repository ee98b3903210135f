import type { AlertingContext } from '../../alerting/context.ts'
import { builderFor } from '../../graphql/schema/builder.ts'

export const builder = builderFor<AlertingContext>()
