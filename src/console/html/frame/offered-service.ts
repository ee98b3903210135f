/** A service in a form. */
export interface OfferedService {
  readonly id: string
  readonly name: string
}

/** The maximum number of services in a form; others can be found by name. */
export const MAX_OFFERED = 50
