import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { z } from 'zod'
import type { AlertingContext } from '../alerting/context.ts'
import { requireScope } from '../core/access.ts'
import { Conflict } from '../core/errors.ts'
import { SECOND } from '../core/time.ts'
import { invalid, lineText, validate } from '../core/validation.ts'
import { insertRows } from '../database/insert-rows.ts'
import { change } from '../event-log/change.ts'
import { DEFAULT_FILE, MAX_FILE_LENGTH, readConfiguration, readVariables } from './format.ts'
import { type Request, SavepointNeeded } from './objects.ts'
import type { Plan } from './plan.ts'
import { run } from './run.ts'
import { readYamlText } from './yaml-thread.ts'

/** How many objects a file may delete, unless it is told. */
export const DEFAULT_DELETIONS = 10

const planInput = z.object({
  yaml: z.string().max(MAX_FILE_LENGTH, `must have at most ${MAX_FILE_LENGTH} characters`),
  variables: z.unknown().optional(),
  isCompressed: z.boolean().nullish(),
  file: lineText(200).nullish(),
  delete: z.boolean().nullish(),
})
const applyInput = planInput.extend({
  planHash: z.string().max(100),
  maxDeletions: z.int().min(0).nullish(),
  lock: z.boolean().nullish(),
})

/** The time limit of the transaction: the largest file creates 2,000 objects. */
const TIMEOUT_MS = 60 * SECOND

/**
 * Returns what applying a file would do. It applies the file and rolls back, so that a plan knows all limits and refusals.
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
      TIMEOUT_MS,
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
 * Applies a file in one transaction, if it does what the plan with `planHash` says, and locks what the file gives, unless `lock` is
 * false. Requires a key with scope ADMIN.
 * @throws Invalid with the line of each problem, and Conflict when it would now do something else, or delete more than it may.
 */
export async function applyConfiguration(ctx: AlertingContext, input: unknown): Promise<Plan> {
  const organizationId = requireScope(ctx, 'ADMIN')
  const { planHash, maxDeletions, lock, ...given } = validate(applyInput, input)
  const request = await readRequest(organizationId, given)
  const applyIn = async (tx: AlertingContext, hasSavepoints: boolean): Promise<[Plan]> => {
    const { plan, rows } = await run(tx, organizationId, { ...request, hasSavepoints })
    if (plan.hash !== planHash)
      throw new Conflict('Something has changed since this plan was made. Plan again, and apply that.')
    const deletions = plan.changes.filter(({ action }) => action === 'DELETE').length
    const limit = maxDeletions ?? DEFAULT_DELETIONS
    if (deletions > limit)
      throw new Conflict(`This deletes ${deletions} objects. Allow it by raising maxDeletions, which is ${limit}.`)
    await tx.db.managedObject.deleteMany({ where: { organizationId, file: request.file } })
    const locksMembers = lock ?? true
    await insertRows(
      tx.db,
      'ManagedObject',
      rows.map((row) => ({ ...row, locksMembers, unlockedAt: null })),
    )
    return [plan]
  }
  return attempt((hasSavepoints) =>
    change(ctx, organizationId, (tx) => applyIn({ ...ctx, ...tx }, hasSavepoints), TIMEOUT_MS),
  )
}

/** Runs a change without savepoints, which are two statements for each object, and again with them if one is needed. */
async function attempt<T>(run: (hasSavepoints: boolean) => Promise<T>): Promise<T> {
  try {
    return await run(false)
  } catch (error) {
    if (!(error instanceof SavepointNeeded)) throw error
    return run(true)
  }
}

/** Rolls back, and carries the plan. */
class Planned extends Error {
  readonly plan: Plan

  constructor(plan: Plan) {
    super('This was a plan.')
    this.plan = plan
  }
}

async function readRequest(
  organizationId: string,
  given: z.output<typeof planInput>,
): Promise<Omit<Request, 'hasSavepoints'>> {
  const values = readVariables(given.variables)
  const text = given.isCompressed ? await decompressed(given.yaml) : given.yaml
  const read = await readYamlText(text, organizationId)
  const configuration = readConfiguration(read, values)
  return { configuration, lines: read.lines, file: given.file ?? DEFAULT_FILE, deletes: given.delete ?? false }
}

/** Returns the text of a file that is compressed by gzip, in base64. @throws Invalid. */
async function decompressed(base64: string): Promise<string> {
  try {
    const text = await promisify(gunzip)(Buffer.from(base64, 'base64'), { maxOutputLength: MAX_FILE_LENGTH })
    return text.toString()
  } catch {
    throw invalid([
      { path: ['yaml'], message: `must be compressed by gzip, in base64, of at most ${MAX_FILE_LENGTH} bytes` },
    ])
  }
}
