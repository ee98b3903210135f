import { ownValue } from '../core/own-value.ts'
import type { Finding } from './finding.ts'
import { found } from './finding.ts'

/** The parts that have specific findings. */
const problems: Readonly<Record<string, (state: string) => Finding>> = {
  database: (state) => found('DATABASE_FAILING', { state }),
  mail: (state) => found(state === 'off' ? 'MAIL_NOT_SET_UP' : 'MAIL_FAILING'),
  resolver: () => found('LISTS_REFUSED', { servers: 'the service’s resolver' }),
  configuration: () => found('CONFIGURATION_FAILING'),
  backup: () => found('BACKUP_FAILING'),
  lateness: (state) => (state === 'late' ? found('PROBES_LATE') : found('PART_FAILING', { part: 'lateness', state })),
}

/** Converts the states of `/readyz` to findings. A state is `ok` or a word for the problem. */
export function readinessFindings(checks: Readonly<Record<string, string>>): Finding[] {
  return Object.entries(checks).map(([part, state]) => {
    if (state === 'ok') return found('PART_OK', { part })
    const problem = ownValue(problems, part)
    return problem?.(state) ?? found('PART_FAILING', { part, state })
  })
}
