import type { RequestRoute } from '../core/request-route.ts'
import type { Diagnosis } from './diagnosis.ts'

/** The context of requests for a diagnosis. */
export interface DiagnosisContext {
  /** Absent if this process does not support it. */
  readonly diagnosis?: Diagnosis | undefined
  /** The route of the request; absent: unknown. */
  readonly route?: RequestRoute | undefined
}
