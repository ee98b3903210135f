import type { FormState } from '../../http/page/form.tsx'
import { FormProblem, fieldProblem, InputField } from '../../http/page/form.tsx'
import { watchTarget } from '../../monitoring/schedule/watch-target.ts'
import type { Screen, Screens } from './frame/screen.tsx'

/** Adds the first screen, which asks what to monitor. One field creates service, monitor and page. */
export function startScreens({ form }: Screens): void {
  form('start', showStart, async ({ ctx }, { fields }) => {
    await watchTarget(ctx, fields.get('target') ?? '')
    return 'now'
  })
}

function showStart(screen: Screen, state: FormState): Response {
  const content = (
    <form method="post" class="stack">
      <FormProblem state={state} fields={fieldProblem(state, 'target') === null ? [] : ['target']} />
      <InputField
        label="Website or host"
        name="target"
        state={state}
        required
        autofocus
        hint="Such as example.com, https://example.com/login or mail.example.com:25."
        autocomplete="off"
        inputmode="url"
      />
      <p class="actions">
        <button type="submit">Watch it</button> <a href={screen.path('now')}>Skip</a>
      </p>
      {screen.may('ADMIN') ? (
        <p>
          Do you use another tool? <a href={screen.path('import')}>Import from it</a>
        </p>
      ) : null}
    </form>
  )
  return screen.show({ title: 'What should be monitored?', section: 'start', content }, state)
}
