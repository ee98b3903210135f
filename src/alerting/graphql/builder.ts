import { builderFor } from '../../graphql/schema/builder.ts'
import type { AlertingContext } from '../context.ts'

export const builder = builderFor<AlertingContext>()
