import { builderFor } from '../../graphql/schema/builder.ts'
import type { IntegrationContext } from '../integration.ts'

export const builder = builderFor<IntegrationContext>()
