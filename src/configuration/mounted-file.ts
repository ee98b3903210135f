import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { AlertingContext } from '../alerting/context.ts'
import { Conflict, DomainError, Invalid } from '../core/errors.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import { applyConfiguration, planConfiguration } from './apply.ts'
import type { Plan } from './plan.ts'
import { valuesFor } from './sections.ts'

/** What is known of the mounted file. */
export interface MountedFileState {
  /** When it was last applied, or found to be applied; null: not since the start. */
  readonly appliedAt: Date | null
  /** Why its present content is not applied; null: it is, or it was not read yet. */
  readonly failure: { readonly at: Date; readonly message: string } | null
}

/** A configuration file that the service applies by itself. */
export interface MountedFile {
  state(): MountedFileState
  /** Applies the file if it has changed since it was last applied. @returns the milliseconds until it should be called again. */
  run(): Promise<number>
}

/** What applies the file: the service's own context. */
type FileContext = Omit<AlertingContext, 'actor'>

/** How often the file is read. Its content is compared, which sees every way to replace a file: links, mounts, networks. */
const READ_INTERVAL = 5 * SECOND
/** How often a content that was refused is tried again: what refuses it may change. */
const RETRY_INTERVAL = MINUTE
/** Others may change the same objects meanwhile, such as an instance with the same file. */
const MAX_ATTEMPTS = 3

/**
 * Creates what applies the file of `CONFIG_FILE`; null: there is none. Each process applies each content once, so that instances with
 * different files, as during an update, do not undo each other's again and again.
 * @param values what the file may name as `${NAME}`.
 */
export function openMountedFile(
  ctx: FileContext,
  values: Readonly<Record<string, string | undefined>>,
): MountedFile | null {
  const { CONFIG_FILE: path, CONFIG_ORGANIZATION: slug } = ctx.config
  return path === undefined ? null : createMountedFile(ctx, { path, slug, values })
}

interface Source {
  readonly path: string
  readonly slug: string | undefined
  readonly values: Readonly<Record<string, string | undefined>>
}

function createMountedFile(ctx: FileContext, source: Source): MountedFile {
  const { log, now } = ctx
  let state: MountedFileState = { appliedAt: null, failure: null }
  /** The hash of the content that was last applied, and of the one that was last refused. */
  let applied = ''
  let refused = ''

  async function applyChanged(): Promise<void> {
    const yaml = await readFile(source.path, 'utf8')
    const hash = createHash('sha256').update(yaml).digest('base64')
    if (hash === applied) return
    const isWaiting = hash === refused && state.failure && now().getTime() - state.failure.at.getTime() < RETRY_INTERVAL
    if (isWaiting) return
    refused = hash
    const { changes, takenOver } = await applyFile(ctx, source, yaml)
    applied = hash
    refused = ''
    state = { appliedAt: now(), failure: null }
    log.info(`configuration: ${source.path} is applied: ${changes.length} changes, ${takenOver} taken over`)
  }

  return {
    state: () => state,
    async run() {
      try {
        await applyChanged()
      } catch (error) {
        const message = messageOf(error)
        if (state.failure?.message !== message) {
          const unexpected = error instanceof DomainError || isFileError(error) ? {} : { err: error }
          log.error(unexpected, `configuration: ${source.path} is not applied, and what was stays: ${message}`)
        }
        state = { ...state, failure: { at: now(), message } }
      }
      return READ_INTERVAL
    },
  }
}

/** Plans and applies, and again when something has changed in between. */
async function applyFile(ctx: FileContext, { path, slug, values }: Source, yaml: string): Promise<Plan> {
  const organizationId = await organizationOf(ctx, slug)
  const own = { ...ctx, actor: { kind: 'operator', organizationId } } as const
  const input = { yaml, file: basename(path), variables: valuesFor(yaml, values) }
  for (let attempt = 1; ; attempt++) {
    const plan = await planConfiguration(own, input)
    try {
      return await applyConfiguration(own, { ...input, planHash: plan.hash })
    } catch (error) {
      if (!(error instanceof Conflict) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** @throws Conflict when it is not clear which organization the file is for. */
async function organizationOf({ db }: FileContext, slug: string | undefined): Promise<string> {
  const where = { deletedAt: null, ...(slug !== undefined && { slug }) }
  const [only, ...others] = await db.organization.findMany({ where, select: { id: true }, take: 2 })
  if (only === undefined) {
    throw new Conflict(slug === undefined ? 'There is no organization yet.' : `There is no organization ${slug}.`)
  }
  if (others.length > 0) throw new Conflict('There are several organizations: set CONFIG_ORGANIZATION to a slug.')
  return only.id
}

/** How many problems a message names. */
const MAX_PROBLEMS = 5

function messageOf(error: unknown): string {
  if (error instanceof Invalid && error.issues.length > 0) {
    const lines = error.issues.slice(0, MAX_PROBLEMS).map(({ line, path, message }) => {
      const place = line === undefined ? '' : `line ${line}, `
      return `${place}${path.join('.')}: ${message}`
    })
    const more = error.issues.length - lines.length
    return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  }
  if (error instanceof DomainError || isFileError(error)) return error.message
  return 'It failed unexpectedly; see the log.'
}

/** Returns whether the file could not be read. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
