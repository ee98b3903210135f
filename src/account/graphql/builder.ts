import type { SecretBox } from '../../core/secret-box.ts'
import { builderFor } from '../../graphql/schema/builder.ts'
import type { KeyCache } from '../api-key/known-keys.ts'
import type { EditContext } from '../managed-object.ts'
import type { PageFinder, PageReader } from '../page/page-guard.ts'
import type { PermissionCache } from '../private-targets/permission.ts'

/** What the resolvers of this room need. */
export interface AccountNeeds extends EditContext, KeyCache, PermissionCache, PageFinder, PageReader {
  /** Opens and seals the secrets in the stored answers of repeated requests. */
  readonly seal: SecretBox
}

export const builder = builderFor<AccountNeeds>()
