import type { KeyCache } from '../../../account/api-key/known-keys.ts'
import type { PageFinder } from '../../../account/page/page-guard.ts'
import type { PermissionCache } from '../../../account/private-targets/permission.ts'
import type { AlertingContext } from '../../../alerting/context.ts'
import type { ScheduledBackups } from '../../../backup/schedule.ts'
import type { BuyerContext } from '../../../billing/context.ts'
import type { CheckContext } from '../../../blacklist/check.ts'
import type { MountedFile } from '../../../configuration/mounted-file.ts'
import type { DiagnosisContext } from '../../../diagnosis/context.ts'
import type { MonitoringContext } from '../../../monitoring/context.ts'
import type { PeopleContext } from '../../../people/context.ts'
import type { PageSource } from '../../../status-page/html/rendered-page.tsx'

/** The context of the console, whose actor is a person or the operator. */
export interface ConsoleContext
  extends Omit<AlertingContext, 'tools'>,
    MonitoringContext,
    BuyerContext,
    CheckContext,
    PeopleContext,
    KeyCache,
    PermissionCache,
    PageFinder,
    DiagnosisContext {
  /** The source of rendered pages. */
  readonly pages: PageSource
  /** The backups that this process makes; null: none. */
  readonly backups: ScheduledBackups | null
  /** The configuration file that this process applies; null: none. */
  readonly configurationFile: MountedFile | null
}
