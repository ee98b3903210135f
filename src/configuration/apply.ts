import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import { replaceManagedObjects } from '../account/managed-object.ts'
import type { AlertingContext } from '../alerting/context.ts'
import { requireScope } from '../core/access.ts'
import { Conflict } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import { invalid, lineText, validate } from '../core/validation.ts'
import { change } from '../event-log/change.ts'
import { pauseMonitor } from '../monitoring/monitor/pause.ts'
import { deletionsAmong } from './deletion-limit.ts'
import { DEFAULT_FILE, MAX_FILE_LENGTH, MAX_KEY_LENGTH, readConfiguration, readVariables } from './format.ts'
import { type Request, SavepointNeeded } from './objects.ts'
import type { Plan } from './plan.ts'
import { run } from './run.ts'
import { readYamlText } from './yaml-process.ts'

/** The maximum number of monitors that may start paused. */
const MAX_PAUSED = 500

const planInput = z.object({
  yaml: z.string().max(MAX_FILE_LENGTH, `must have at most ${MAX_FILE_LENGTH} characters`),
  variables: z.unknown().optional(),
  isCompressed: z.boolean().nullish(),
  file: lineText(200).nullish(),
  delete: z.boolean().nullish(),
  keepAbsent: z.boolean().nullish(),
  allowLiteralSecrets: z.boolean().nullish(),
})
const applyInput = planInput.extend({
  planHash: z.string().max(100),
  maxDeletions: z.int().min(0).nullish(),
  lock: z.boolean().nullish(),
  pausedMonitors: z.array(z.string().max(MAX_KEY_LENGTH)).max(MAX_PAUSED, `must be at most ${MAX_PAUSED}`).nullish(),
})

/** The time limit of the transaction. The largest file creates 2,000 objects. */
const TIMEOUT_MS = 60 * SECOND

/**
 * Returns the changes that applying a file would make. Applies the file and rolls back, so the plan accounts for every limit.
 * Requires a key with scope ADMIN.
 * @throws Invalid with the line of each problem.
 */
export async function planConfiguration(ctx: AlertingContext, input: unknown): Promise<Plan> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const request = await readRequest(organizationId, validate(planInput, input))
  const planning = attempt((hasSavepoints) =>
    change(
      ctx,
      organizationId,
      async (tx) => {
        throw new Planned((await run({ ...ctx, ...tx }, organizationId, { ...request, hasSavepoints })).plan)
      },
      { timeoutMs: TIMEOUT_MS },
    ),
  )
  return planning.then(
    () => {
      throw new Error('A plan was committed.')
    },
    (error: unknown) => {
      if (error instanceof Planned) return error.plan
      throw error
    },
  )
}

/**
 * Applies a file in one transaction if the result matches the plan with `planHash`. Locks the fields that the file sets, unless
 * `lock` is false. Requires a key with scope ADMIN.
 * @throws Invalid with the line of each problem, and Conflict if the result differs from the plan or deletes too many objects.
 */
export async function applyConfiguration(ctx: AlertingContext, input: unknown): Promise<Plan> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { planHash, maxDeletions, lock, pausedMonitors, ...given } = validate(applyInput, input)
  const request = await readRequest(organizationId, given)
  const applyIn = async (tx: AlertingContext, hasSavepoints: boolean): Promise<[Plan]> => {
    const { plan, rows } = await run(tx, organizationId, { ...request, hasSavepoints })
    if (plan.hash !== planHash)
      throw new Conflict('Something changed since this plan was made. Plan again and apply the new plan.')
    requireAllowed(plan, maxDeletions ?? null)
    await pauseCreated(tx, plan, rows, pausedMonitors ?? [])
    await replaceManagedObjects(tx, organizationId, { ...request, locksMembers: lock ?? true, rows })
    return [plan]
  }
  return attempt((hasSavepoints) =>
    change(ctx, organizationId, (tx) => applyIn({ ...ctx, ...tx }, hasSavepoints), { timeoutMs: TIMEOUT_MS }),
  )
}

/** Limits how many objects a plan deletes. @param most the limit; null: the plan must have no `deletionWarning`. @throws Conflict. */
function requireAllowed({ changes, deletionWarning }: Plan, most: number | null): void {
  const deletions = deletionsAmong(changes)
  if (most !== null && deletions > most)
    throw new Conflict(`This deletes ${deletions} objects, but maxDeletions is ${most}. Raise it to continue.`)
  if (most === null && deletionWarning !== null)
    throw new Conflict(`${deletionWarning} To allow this, set maxDeletions: ${deletions}.`)
}

/** Pauses the created monitors with these keys before their first probe. */
async function pauseCreated(
  tx: AlertingContext,
  { changes }: Plan,
  rows: readonly { readonly section: string; readonly key: string; readonly objectId: string }[],
  keys: readonly string[],
): Promise<void> {
  const wanted = new Set(keys)
  const created = changes.filter(
    ({ action, section, key }) => action === 'CREATE' && section === 'monitors' && wanted.has(key),
  )
  const isCreated = new Set(created.map(({ key }) => key))
  for (const { section, key, objectId } of rows)
    if (section === 'monitors' && isCreated.has(key)) await pauseMonitor(tx, objectId)
}

/** Runs a change without savepoints, which cost two statements per object, and repeats it with them if it requires one. */
async function attempt<T>(run: (hasSavepoints: boolean) => Promise<T>): Promise<T> {
  try {
    return await run(false)
  } catch (error) {
    if (!(error instanceof SavepointNeeded)) throw error
    return run(true)
  }
}

/** Thrown to roll back a planning transaction. Carries the plan. */
class Planned extends Error {
  readonly plan: Plan

  constructor(plan: Plan) {
    super('Rolls back a plan.')
    this.plan = plan
  }
}

async function readRequest(
  organizationId: string,
  given: z.output<typeof planInput>,
): Promise<Omit<Request, 'hasSavepoints'>> {
  const values = readVariables(given.variables)
  const text = given.isCompressed ? await decompress(given.yaml) : given.yaml
  const read = await readYamlText(text, organizationId)
  const configuration = await readConfiguration(organizationId, read, values, given.allowLiteralSecrets ?? false)
  const file = given.file ?? DEFAULT_FILE
  const [deletes, keepsAbsent] = [given.delete ?? false, given.keepAbsent ?? false]
  if (deletes && keepsAbsent)
    throw invalid([{ path: ['keepAbsent'], message: 'must not be combined with delete, which deletes absent objects' }])
  return { configuration, lines: read.lines, file, deletes, keepsAbsent }
}

/** Decompresses a file from gzip in base64. @throws Invalid. */
async function decompress(base64: string): Promise<string> {
  try {
    const text = await promisify(gunzip)(Buffer.from(base64, 'base64'), { maxOutputLength: MAX_FILE_LENGTH })
    return text.toString()
  } catch {
    throw invalid([
      { path: ['yaml'], message: `must be gzip in base64, of at most ${MAX_FILE_LENGTH} bytes decompressed` },
    ])
  }
}
