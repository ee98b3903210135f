import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { AlertingContext } from '../alerting/context.ts'
import { applyConfiguration, planConfiguration } from '../configuration/apply.ts'
import type { Plan } from '../configuration/plan.ts'
import { requireScope } from '../core/access.ts'
import { Conflict, Invalid } from '../core/errors.ts'
import { invalid } from '../core/validation.ts'
import { translateInProcess, writeInProcess } from './import-process.ts'
import type { Installation } from './installation.ts'
import { askForName, fileOf, looksLikeAnother, NAME_RULE, readName } from './installation.ts'
import { planWithoutRefused, Unplannable } from './plan-without-refused.ts'
import { linesOf, type Prepared, preparedIn, type Variable } from './prepared.ts'
import { recordsOf, sendRecords } from './record-parts.ts'
import type { RecordResult } from './records.ts'
import { importRecords } from './records.ts'
import type { Row } from './rows.ts'
import { changesAmong, rowsOf } from './rows.ts'
import type { Source } from './source-names.ts'
import type { Note, Objects } from './translation.ts'
import { Unreadable } from './translation.ts'

/** An import covers only a part of the objects, and contains literal secrets of the source. */
const AS_IMPORT = { keepAbsent: true, allowLiteralSecrets: true }

/** The input of an import. */
interface Given {
  readonly source: Source
  /** The name of the installation as typed; empty: unnamed. */
  readonly name: string
  readonly file: Uint8Array
  /** Values for `${NAME}`, if files of the source have placeholders. */
  readonly variables: readonly Variable[]
}

/** The planned or applied changes of an import. */
export interface Import {
  readonly changeCount: number
  readonly rows: readonly Row[]
  /** Whether it adds services, which appear on pages that show all services. */
  readonly addsServices: boolean
}

/** A plan and its input. */
interface Attempted {
  readonly yaml: string
  readonly objects: Objects
  readonly plan: Plan
}

/** Plans an import without changing anything. Returns the sealed input of `applyImport`. Requires the scope ADMIN. */
export async function planImport(ctx: AlertingContext, given: Given): Promise<Import & { readonly sealed: string }> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const installation = installationOf(given)
  const translation = await translateInProcess(installation, given.file, organizationId).catch(asInvalid)
  const variables = translation.hasVariables ? given.variables : []
  const file = fileOf(installation)
  const { planned, refused } = await planWithoutRefused<Attempted>(translation.objects, async (objects) => {
    const yaml = await writeInProcess({ ...translation, objects }, organizationId)
    try {
      const plan = await planConfiguration(ctx, { yaml, variables, file, ...AS_IMPORT })
      return { planned: { yaml, objects, plan } }
    } catch (error) {
      const isOfObjects =
        error instanceof Invalid && error.issues.length > 0 && error.issues[0]?.path[0] !== 'variables'
      if (!isOfObjects) throw error
      return { refusals: error.issues.map(({ path, message }) => ({ path, message })) }
    }
  }).catch(asInvalid)
  const { yaml, plan, objects } = planned
  if (given.name.trim() === '' && looksLikeAnother({ services: objects.services.size, changes: plan.changes }))
    throw invalid([{ path: ['name'], message: askForName(given.source, 'here') }])
  const records = recordsOf(translation.records, objects)
  const { pausedMonitors } = translation
  const prepared = { installation, yaml, variables, planHash: plan.hash, pausedMonitors, records }
  const sealed = await seal(ctx, organizationId, prepared)
  const found = await sendRecords(records, { installation, dryRun: true }, (part) => importRecords(ctx, part))
  return { ...summaryOf(plan, found, [...refused, ...translation.notes]), sealed }
}

function installationOf({ source, name: typed }: Given): Installation {
  const name = readName(typed)
  if (name === null) throw invalid([{ path: ['name'], message: NAME_RULE }])
  return { source, name }
}

/**
 * Applies a planned import: all objects or none, then the records. Requires the scope ADMIN.
 * @throws Conflict if the changes no longer match the plan.
 */
export async function applyImport(ctx: AlertingContext, sealed: string): Promise<Import> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { installation, records, ...prepared } = await open(ctx, organizationId, sealed)
  const file = fileOf(installation)
  const plan = await applyConfiguration(ctx, { ...prepared, file, ...AS_IMPORT, lock: false })
  const made = await sendRecords(records, { installation, dryRun: false }, (part) => importRecords(ctx, part))
  return summaryOf(plan, made, [])
}

function summaryOf(plan: Plan, records: readonly RecordResult[], notes: readonly Note[]): Import {
  const drift = plan.drift.map((each) => ({ ...each, by: each.last?.by ?? null }))
  return {
    changeCount: plan.changes.length + changesAmong(records),
    rows: rowsOf({ changes: plan.changes, drift }, { records, notes }),
    addsServices: plan.changes.some(({ action, section }) => action === 'CREATE' && section === 'services'),
  }
}

function asInvalid(error: unknown): never {
  if (error instanceof Unreadable || error instanceof Unplannable)
    throw invalid([{ path: ['file'], message: error.message.replace(/\.$/, '') }])
  throw error
}

/** The number changes with the format, so that what another version has sealed counts as expired. */
const about = (organizationId: string) => `import 2 ${organizationId}`
/** The maximum length of a form field. */
const MAX_SEALED_LENGTH = 1_500_000
const MAX_PREPARED_BYTES = 8_000_000

async function seal({ seal: box }: AlertingContext, organizationId: string, prepared: Prepared): Promise<string> {
  const packed = await promisify(gzip)(await linesOf(prepared))
  const sealed = box.seal(packed.toString('base64'), about(organizationId))
  if (sealed.length <= MAX_SEALED_LENGTH) return sealed
  throw invalid([{ path: ['file'], message: 'is too large for a single import' }])
}

async function open({ seal: box }: AlertingContext, organizationId: string, sealed: string): Promise<Prepared> {
  let packed: string
  try {
    packed = box.open(sealed, about(organizationId))
  } catch {
    throw new Conflict('This dry run has expired. Choose the file again.')
  }
  const text = await promisify(gunzip)(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_PREPARED_BYTES })
  // Only this service can seal a text for this purpose.
  return preparedIn(text.toString())
}
