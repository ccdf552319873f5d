import { type ProofChallenge, proofField } from '@sluice/http/login'

/** Returns the login form, with a task for the browser while attempts are challenged. */
export function loginPage(nonce: string, challenge: ProofChallenge | undefined, message = 'Log in'): string {
  return page(
    message,
    `<form method="post" action="/login">
<p><label>E-mail <input name="email" type="email" autocomplete="username" required></label>
<p><label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<p><button>Log in</button>
${challenge ? proofField({ challenge, nonce }) : ''}
</form>`,
  )
}

/** Returns the page of a person who has logged in. */
export function welcomePage(isKnown: boolean): string {
  return page(
    'Welcome',
    `<p>${isKnown ? 'This device was known' : 'This device is known from now on'}.
<form method="post" action="/password">
<p><label>New password <input name="password" type="password" autocomplete="new-password" required></label>
<p><button>Change password</button>
</form>`,
  )
}

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<h1>${title}</h1>
${content}
</html>
`
}
