import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { twoLiveOrganizations } from '../account/organization/organization-queries.ts'
import type { AlertingContext } from '../alerting/context.ts'
import { Conflict, DomainError, Invalid } from '../core/errors.ts'
import { MINUTE, SECOND } from '../core/time.ts'
import { applyConfiguration, planConfiguration } from './apply.ts'
import type { Plan } from './plan.ts'
import { valuesFor } from './sections.ts'

/** The state of the mounted file. */
export interface MountedFileState {
  /** When it was last applied or found unchanged; null: not since the start. */
  readonly appliedAt: Date | null
  /** Why its current content is not applied; null: it is, or it has not been read yet. */
  readonly failure: { readonly at: Date; readonly message: string } | null
}

/** A configuration file that the service applies automatically. */
export interface MountedFile {
  state(): MountedFileState
  /** Applies the file if it has changed since it was last applied. @returns the milliseconds until the next call. */
  run(): Promise<number>
}

type FileContext = Omit<AlertingContext, 'actor'>

/** How often the file is read. Comparing contents detects every kind of replacement: links, mounts, network file systems. */
const READ_INTERVAL = 5 * SECOND
/** How often refused content is retried, because the cause may be temporary. */
const RETRY_INTERVAL = MINUTE
/** Retries conflicts with concurrent changes, such as by another instance with the same file. */
const MAX_ATTEMPTS = 3

/**
 * Creates the job that applies `CONFIG_FILE`; null if that is not set. Each process applies each content once, so that instances
 * with different files, as during a rollout, do not keep overwriting each other.
 * @param values the values for `${NAME}` in the file.
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
  /** The hashes of the content last applied and of the content last refused. */
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
    log.info(`configuration: applied ${source.path}: ${changes.length} changes, ${takenOver} objects taken over`)
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
          log.error(unexpected, `configuration: could not apply ${source.path}; the previous state stays: ${message}`)
        }
        state = { ...state, failure: { at: now(), message } }
      }
      return READ_INTERVAL
    },
  }
}

/** Plans and applies a file. Repeats both when something changes in between. */
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

/** @throws Conflict if the slug matches no organization, or there is no slug and not exactly one organization. */
async function organizationOf(ctx: FileContext, slug: string | undefined): Promise<string> {
  const [only, ...others] = await twoLiveOrganizations(ctx, slug)
  if (only === undefined) {
    throw new Conflict(slug === undefined ? 'There is no organization yet.' : `There is no organization “${slug}”.`)
  }
  if (others.length > 0) throw new Conflict('There are several organizations. Set CONFIG_ORGANIZATION to a slug.')
  return only.id
}

/** The maximum number of problems that a message lists. */
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
  return 'Unexpected failure; see the log.'
}

/** Returns whether an error comes from reading the file. */
function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error
}
