// The part of an executable's first lines that takes keys out of its environment before Node starts, where even /proc/PID/environ would show them.
// Which those are says packages/tool-runner/src/environment.ts; a test holds the two against each other.
const NAMES = 'API_KEY APIKEY ACCESS_KEY ACCESSKEY PRIVATE_KEY PRIVATEKEY TOKEN SECRET PASSWORD CREDENTIAL'.split(' ').flatMap((name) => [name, `${name}S`])
const WORDS = [...NAMES, 'PASSWD', 'PASSPHRASE']
const DIGITS = ['', '[0-9]', '[0-9][0-9]']
const namePatterns = [...WORDS.map((word) => `*_${word}`), '_?*_KEY'].flatMap((start) =>
  DIGITS.flatMap((digits) => {
    const pattern = `${start}${digits}_${start.startsWith('*') ? '*' : ''}`
    return [pattern, pattern.toLowerCase()]
  }),
)
const valuePatterns = ['sk-', 'ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_', 'glpat-', 'xox[abprs]-', 'AKIA', 'AIza', 'hf_', 'npm_'].map(
  (start) => `*=?${start}${'?'.repeat(16)}*`,
)

/** A line of sh. A name that `--env`, its variable or the config file names may be meant to stay: Node looks closer. No program is started but for that. */
export const dropKeys = [
  'set -f; for _ap_w in $(export -p); do case $_ap_w in [A-Za-z_]*=*) _ap_n=${_ap_w%%=*}; case $_ap_n in *[!A-Za-z0-9_]*) continue;; esac; ',
  `case _\${_ap_n}_ in ${namePatterns.join('|')}) ;; *) case $_ap_w in ${valuePatterns.join('|')}) ;; *) continue;; esac;; esac; `,
  ': "${_ap_c=$(cat "${AGENTPIPE_CONFIG:-${XDG_CONFIG_HOME:-$HOME/.config}/agentpipe/config.json}" 2>/dev/null)}"; ',
  'case " $* " in *" --env $_ap_n "*|*" --env=$_ap_n "*) continue;; esac; ',
  'case " ${AGENTPIPE_TOOL_RUNNER_ENV-} $_ap_c " in *[!A-Za-z0-9_]"$_ap_n"[!A-Za-z0-9_]*) ;; *) unset "$_ap_n";; esac;; esac; ',
  'done; set +f; unset _ap_w _ap_n _ap_c; ',
].join('')
