import type { ObjectFields } from '../configuration/format.ts'
import { ownValue } from '../core/own-value.ts'
import { blackboxKeys } from './blackbox-keys.ts'
import { blackboxOptions } from './blackbox-options.ts'
import { Fields } from './fields.ts'
import { noteLosses } from './losses.ts'
import { Draft, type Drafted, keyOf, lineOf, nameOf, Unreadable, within } from './translation.ts'
import { readYamlObject } from './yaml-object.ts'

const PREFIX = 'blackbox-exporter'

/**
 * Translates the modules of Prometheus’ blackbox exporter (`blackbox.yml`) and the targets of Prometheus’ jobs that use them
 * (`scrape_configs`), from one text that has both. @throws Unreadable.
 */
export function translateBlackboxExporter(text: string): Drafted {
  // Both files may begin a document. They share no key.
  const file = readYamlObject(text.replace(/^---[ \t]*$/gm, ''))
  const modules = file.fields('modules')
  const jobs = file.list('scrape_configs').map((each) => new Fields(each))
  if (modules.isEmpty()) throw new Unreadable('This isn’t a configuration of the blackbox exporter: it has no modules.')
  const draft = new Draft()
  const global = file.fields('global')
  const used = new Set(jobs.flatMap((job) => addJob(draft, { job, modules, global })))
  for (const [name, module] of modules.entries())
    if (!used.has(name))
      draft.skip(
        'monitors',
        nameOf(`module ${name}`, 'module'),
        'No target in scrape_configs uses it.',
        new Fields(module),
      )
  noteLosses(draft, [file], blackboxKeys)
  return { ...draft, hasVariables: false }
}

interface Job {
  readonly job: Fields
  readonly modules: Fields
  readonly global: Fields
}

/** Adds the targets of a job. Returns the names of the modules that they use. */
function addJob(draft: Draft, { job, modules, global }: Job): string[] {
  const wholeName = lineOf(job.text('job_name')) || 'Job'
  const name = nameOf(wholeName, 'Job')
  const named = job.fields('params').list('module').map(String)
  const targets = job.list('static_configs').flatMap((each) => targetsOf(new Fields(each), named))
  const own = job
    .fields('params')
    .list('target')
    .map((target) => ({ target: String(target), module: named[0] ?? '' }))
  // Other jobs collect metrics from services, which no probe does.
  if (job.text('metrics_path') !== '/probe' || [...targets, ...own].length === 0) {
    const reason = job.text('metrics_path') === '/probe' ? 'It has no targets in static_configs or params.' : OTHER_JOB
    draft.skip('monitors', name, reason, job)
    return []
  }
  const group = keyOf(PREFIX, `job ${wholeName}`)
  const interval = job.parsed('scrape_interval', seconds) ?? global.parsed('scrape_interval', seconds) ?? 60
  const timeout = job.parsed('scrape_timeout', seconds) ?? global.parsed('scrape_timeout', seconds)
  for (const { target, module } of [...targets, ...own])
    addTarget(draft, { target, module, group, groupName: name, modules, interval, timeout })
  return [...targets, ...own].map(({ module }) => module)
}

const OTHER_JOB = 'It does not use the blackbox exporter: its metrics_path is not /probe.'

interface Target {
  readonly target: string
  readonly module: string
}

/** Returns the targets of a static configuration. A label can name another module than the job’s. */
function targetsOf(config: Fields, named: readonly string[]): Target[] {
  const labels = config.fields('labels')
  const module = labels.text('__param_module') || labels.text('module') || (named[0] ?? '')
  return config.list('targets').map((target) => ({ target: String(target), module }))
}

interface Added extends Target {
  readonly group: string
  readonly groupName: string
  readonly modules: Fields
  /** In seconds. */
  readonly interval: number
  readonly timeout: number | undefined
}

function addTarget(draft: Draft, { target, module, group, groupName, modules, ...times }: Added): void {
  const name = nameOf(target, 'Target')
  const key = keyOf(PREFIX, `${module} ${target}`)
  const fields = modules.fields(module)
  if (draft.objects.monitors.has(key)) {
    draft.skip('monitors', name, `Another job probes it with the module ${nameOf(module, 'of no name')}.`)
    return
  }
  const options = fields.isEmpty() ? null : blackboxOptions(draft, { name, target, module: fields })
  if (options === null) {
    const reason = fields.isEmpty()
      ? `Its module ${nameOf(module, 'has no name and')} is not in the file.`
      : `Allclear has no monitors for the prober ${nameOf(fields.text('prober'), '')} of this target.`
    draft.skip('monitors', name, reason, fields)
    return
  }
  draft.objects.groups.set(group, { name: groupName })
  draft.objects.services.set(key, { name, group })
  draft.objects.monitors.set(key, { name, service: key, ...timesOf(fields, times), ...options })
}

/** A probe ends at the earlier of the timeouts of its module and its scrape, which is 10 s by default (Prometheus). */
function timesOf(module: Fields, { interval, timeout }: Pick<Added, 'interval' | 'timeout'>): ObjectFields {
  const own = module.parsed('timeout', seconds)
  const least = Math.min(...[own, timeout ?? 10].filter((each) => each !== undefined))
  const intervalSeconds = within(1, 86_400, interval)
  return { intervalSeconds, timeoutMs: within(500, Math.min(30_000, intervalSeconds * 1000), least * 1000) }
}

/** Converts a duration of Prometheus, such as 1m30s, to seconds. */
function seconds(text: string): number | undefined {
  if (!/^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[smhdwy]))+$/.test(text)) return undefined
  const units: Readonly<Record<string, number>> = {
    ms: 0.001,
    s: 1,
    m: 60,
    h: 3600,
    d: 86_400,
    w: 604_800,
    y: 31_536_000,
  }
  return [...text.matchAll(/(\d{1,15}(?:\.\d{1,15})?)(ms|[smhdwy])/g)].reduce(
    (sum, [, count, unit = 's']) => sum + Number(count) * (ownValue(units, unit) ?? 1),
    0,
  )
}
