import type { FormState } from '../../http/page/form.tsx'
import { FormProblem, InputField } from '../../http/page/form.tsx'
import { HeldField } from './held-form.tsx'
import type { Continuation } from './pages.tsx'

/** Renders the page that asks for the second factor. @param token proves the first factor. */
export function CodeForm({
  state,
  token,
  next: { to, held },
}: {
  readonly state: FormState
  readonly token: string
  readonly next: Continuation
}) {
  return (
    <form method="post" action="/sign-in/code" class="stack">
      <FormProblem state={state} />
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="to" value={to} />
      <HeldField held={held} />
      <InputField
        label="Code"
        name="code"
        state={{ ...state, fields: new URLSearchParams() }}
        required
        autofocus
        hint="From your authenticator app, or one of your recovery codes."
        autocomplete="one-time-code"
        maxlength={40}
      />
      <p class="actions">
        <button type="submit">Continue</button> <a href="/sign-in">Start again</a>
      </p>
    </form>
  )
}
