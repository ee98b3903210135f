import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { AlertingContext } from '../alerting/context.ts'
import { applyConfiguration, planConfiguration } from '../configuration/apply.ts'
import type { Plan } from '../configuration/plan.ts'
import { requireScope } from '../core/access.ts'
import { Conflict, Invalid } from '../core/errors.ts'
import { invalid } from '../core/validation.ts'
import { translateInThread, writeInThread } from './import-thread.ts'
import type { NamedRecords } from './record-parts.ts'
import { recordsOf, sendRecords } from './record-parts.ts'
import type { RecordResult } from './records.ts'
import { importRecords } from './records.ts'
import { planWithoutRefused, Unplannable } from './rounds.ts'
import type { Row } from './rows.ts'
import { changesAmong, rowsOf } from './rows.ts'
import type { Source } from './source-names.ts'
import type { Note, Objects } from './translation.ts'
import { Unreadable } from './translation.ts'

/** A value for a place such as `${NAME}`. */
export interface Variable {
  readonly name: string
  readonly value: string
}

/** What is imported, and from where. */
interface Given {
  readonly source: Source
  readonly file: Uint8Array
  /** Values for `${NAME}` in a file of a source that has such places. */
  readonly variables: readonly Variable[]
}

/** What an import would do, or did. */
export interface Import {
  readonly changeCount: number
  readonly rows: readonly Row[]
  /** Whether pages that show all services will show more of them. */
  readonly addsServices: boolean
}

/** What is kept between a dry run and the import: it stays with the person, sealed. */
interface Prepared {
  readonly source: Source
  readonly yaml: string
  readonly variables: readonly Variable[]
  readonly planHash: string
  /** What happened there. */
  readonly records: NamedRecords
}

/** A plan, with what was planned. */
interface Attempted {
  readonly yaml: string
  readonly objects: Objects
  readonly plan: Plan
}

/** Returns what an import would do, changes nothing, and seals what `applyImport` takes. Requires the scope ADMIN. */
export async function planImport(ctx: AlertingContext, given: Given): Promise<Import & { readonly sealed: string }> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { source } = given
  const translation = await translateInThread(source, given.file, organizationId).catch(asInvalid)
  const variables = translation.hasVariables ? given.variables : []
  const file = fileOf(source)
  const { planned, refused } = await planWithoutRefused<Attempted>(translation.objects, async (objects) => {
    const yaml = await writeInThread({ ...translation, objects }, organizationId)
    try {
      return { planned: { yaml, objects, plan: await planConfiguration(ctx, { yaml, variables, file }) } }
    } catch (error) {
      const isOfObjects =
        error instanceof Invalid && error.issues.length > 0 && error.issues[0]?.path[0] !== 'variables'
      if (!isOfObjects) throw error
      return { refusals: error.issues.map(({ path, message }) => ({ path, message })) }
    }
  }).catch(asInvalid)
  const { yaml, plan, objects } = planned
  const records = recordsOf(translation.records, objects)
  const sealed = await seal(ctx, organizationId, { source, yaml, variables, planHash: plan.hash, records })
  const found = await sendRecords(records, { source, dryRun: true }, (part) => importRecords(ctx, part))
  return { ...summaryOf(plan, found, [...refused, ...translation.notes]), sealed }
}

/**
 * Does what a dry run said: objects all or none, then what happened there. Requires the scope ADMIN.
 * @throws Conflict when it would now do something else.
 */
export async function applyImport(ctx: AlertingContext, sealed: string): Promise<Import> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { source, records, ...prepared } = await open(ctx, organizationId, sealed)
  const plan = await applyConfiguration(ctx, { ...prepared, file: fileOf(source), lock: false })
  const made = await sendRecords(records, { source, dryRun: false }, (part) => importRecords(ctx, part))
  return summaryOf(plan, made, [])
}

const fileOf = (source: Source) => `import from ${source}`

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

const about = (organizationId: string) => `import ${organizationId}`
/** What a form takes. */
const MAX_SEALED_LENGTH = 1_500_000
const MAX_PREPARED_BYTES = 8_000_000

async function seal({ seal: box }: AlertingContext, organizationId: string, prepared: Prepared): Promise<string> {
  const packed = await promisify(gzip)(JSON.stringify(prepared))
  const sealed = box.seal(packed.toString('base64'), about(organizationId))
  if (sealed.length <= MAX_SEALED_LENGTH) return sealed
  throw invalid([{ path: ['file'], message: 'is too large to import in one go' }])
}

async function open({ seal: box }: AlertingContext, organizationId: string, sealed: string): Promise<Prepared> {
  let packed: string
  try {
    packed = box.open(sealed, about(organizationId))
  } catch {
    throw new Conflict('This dry run cannot be used any more. Choose the file again.')
  }
  const text = await promisify(gunzip)(Buffer.from(packed, 'base64'), { maxOutputLength: MAX_PREPARED_BYTES })
  // Nobody else can seal such a text.
  return JSON.parse(text.toString()) as Prepared
}
