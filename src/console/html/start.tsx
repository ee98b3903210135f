import { Invalid } from '../../core/errors.ts'
import { invalid } from '../../core/validation.ts'
import type { FormState } from '../../http/page/form.tsx'
import { FormProblem, fieldProblem, InputField } from '../../http/page/form.tsx'
import type { TargetReading } from '../../monitoring/schedule/watch-target.ts'
import { parseWatchTarget, watchTarget } from '../../monitoring/schedule/watch-target.ts'
import { PrivateTargetsOffer } from './frame/private-targets.tsx'
import type { Screen, Screens } from './frame/screen.tsx'

/** Adds the first screen, which asks what to monitor. One field creates service, monitor and page. */
export function startScreens({ form }: Screens): void {
  form('start', showStart, async (screen, { fields }) => {
    const target = fields.get('target') ?? ''
    const reading = readingIn(fields)
    if (reading === null && screen.may('WRITE') && parseWatchTarget(target, 'target').orWebsite !== undefined)
      return showStart(screen, { fields, problem: null })
    await watchTarget(screen.ctx, target, reading ?? 'connection').catch(refuseTarget)
    return 'now'
  })
}

/** Shows the problems of a monitor at the only field. @throws always. */
function refuseTarget(error: unknown): never {
  if (!(error instanceof Invalid)) throw error
  throw invalid(error.issues.map((issue) => ({ ...issue, path: ['target'] })))
}

/** Returns how to read a port without a usual use; null: the person has not said. */
function readingIn(fields: URLSearchParams): TargetReading | null {
  const reading = fields.get('as')
  return reading === 'website' || reading === 'connection' ? reading : null
}

/** Asks how to read an address that may be a website or a bare port. */
function Question({ target }: { readonly target: string }) {
  return (
    <section id="reading" role="status">
      <p>{target} can be read in two ways. What should be checked?</p>
      <p class="actions">
        <button type="submit" name="as" value="website">
          The website http://{target}
        </button>
        <button type="submit" name="as" value="connection" class="quiet">
          Only the TCP connection to {target}
        </button>
      </p>
    </section>
  )
}

function showStart(screen: Screen, state: FormState): Response {
  const target = state.fields.get('target') ?? ''
  const asked = state.problem === null && target !== '' && readingIn(state.fields) === null
  const content = (
    <form method="post" class="stack">
      <FormProblem state={state} fields={fieldProblem(state, 'target') === null ? [] : ['target']} />
      <InputField
        label="Website or host"
        name="target"
        state={state}
        required
        autofocus
        hint="Such as example.com, https://example.com/login, mail.example.com:25, redis://cache.example.com or ping://192.0.2.1."
        autocomplete="off"
        inputmode="url"
      />
      {asked ? <Question target={target.trim()} /> : null}
      <p class="actions">
        <button type="submit" class={asked ? 'quiet' : undefined}>
          {asked ? 'Another address' : 'Watch it'}
        </button>{' '}
        <a href={screen.path('now')}>Skip</a>
      </p>
      <PrivateTargetsOffer {...{ screen, state }} />
      {screen.may('ADMIN') ? (
        <p>
          Do you use another tool? <a href={screen.path('import')}>Import from it</a>
        </p>
      ) : null}
    </form>
  )
  return screen.show({ title: 'What should be monitored?', section: 'start', content }, state)
}
