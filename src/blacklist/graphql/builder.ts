import { builderFor } from '../../graphql/schema/builder.ts'
import type { CheckContext } from '../check.ts'

export const builder = builderFor<CheckContext>()
