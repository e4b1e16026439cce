/** Command lines and what each leads to: the rules of upstream's, one row for each, and those of our own flags. */
import { release, version, versionText } from "../../src/version.ts"
import { underTest } from "./World.ts"

/** Headers of log lines are cut down to severity and caller. */
export interface Outcome {
  readonly stdout: string
  readonly first: string
  readonly last: string
  readonly code: number
}

/** Words are parted by a space; as a list where one is empty or holds a space. */
export type Row = readonly [words: string | ReadonlyArray<string>, outcome: Outcome]

export const argv0 = underTest().at(-1) ?? ""

const says = (line: string, code: number): Outcome => ({ stdout: "", first: line, last: line, code })

/** Which commit was built is told by the build, not by the sources. */
export const commit = "COMMIT"
const versionShown: Outcome = { stdout: versionText(argv0, { ...release, commit }), first: "", last: "", code: 0 }
export const help: Outcome = {
  stdout: "",
  first: `Usage of ${argv0}:`,
  last: "Accepted without effect, for pods written for releases before v2.11: -add_dir_header, -alsologtostderr, -log_backtrace_at, -log_dir, -log_file, -log_file_max_size, -logtostderr, -one_output, -skip_headers, -skip_log_headers, -stderrthreshold",
  code: 0
}
/** The reason, the usage, and the reason again. */
const refused = (reason: string) => says(reason, 2)
const undefinedFlag = (name: string) => refused(`flag provided but not defined: -${name}`)
const badSyntax = (word: string) => refused(`bad flag syntax: ${word}`)
const needsArgument = (name: string) => refused(`flag needs an argument: -${name}`)
/** `shown` is the value in quotes. */
const badValue = (shown: string, name: string, reason = "parse error") =>
  refused(`invalid value ${shown} for flag -${name}: ${reason}`)
const badBool = (shown: string, name: string, reason = "parse error") =>
  refused(`invalid boolean value ${shown} for -${name}: ${reason}`)
const badLevel = (shown: string, reason = "invalid syntax") =>
  badValue(shown, "v", `strconv.ParseUint: parsing ${shown}: ${reason}`)

const pathMissing = says('E main.go:135] "kubelet-registration-path is a required parameter"', 1)
const loggingInvalid = (shown: string) =>
  says(`E main.go:125] "LoggingConfiguration is invalid" err="${shown.replaceAll('"', '\\"')}"`, 1)
const notPositive = (shown: string) =>
  loggingInvalid(`flushFrequency: Invalid value: "${shown}": Must be greater than zero`)
const notAFormat = (shown: string) => `format: Invalid value: "${shown}": Unsupported log format`
const vmoduleForbidden = "vmodule: Forbidden: Only supported for text log format"

const starts = (last: string): Outcome => ({
  stdout: "",
  first: `I main.go:145] "Version" version="${version}"`,
  last,
  code: 1
})
const bothHealthFlags = starts('E main.go:149] "Only one of `--health-port` and `--http-endpoint` can be set"')
const badAddress = (shown: string, why: string) =>
  starts(
    `E main.go:167] "Error connecting to CSI driver" err="--csi-address=\\"${shown}\\" ${why}; give the path of the driver's unix socket, such as /csi/csi.sock"`
  )
/** A run that ends at once, for want of an address. */
const run = "--csi-address= --kubelet-registration-path=/run/csi.sock"
const runs = badAddress("", "is empty")
const hostInAddress = "has a host between unix:// and the path; an absolute path needs three slashes"
const noUnixAddress = "is neither an absolute path nor a unix: address"

/** A path that no row runs with. */
const probe = "--mode=kubelet-registration-probe --kubelet-registration-path=/nobody/csi.sock"
const nobodyToAsk = says(
  'I registrar.ts:60] "Probe succeeded, no registrar to ask" kubeletRegistrationPath="/nobody/csi.sock"',
  0
)
const nobodyRegistered = says(
  'E registrar.ts:70] "Probe failed" err="no registrar runs here" kubeletRegistrationPath="/nobody/csi.sock"',
  1
)

const each = (values: ReadonlyArray<string>, row: (value: string) => Row): ReadonlyArray<Row> => values.map(row)

const dashes: ReadonlyArray<Row> = [
  ["-version", versionShown],
  ["--version", versionShown],
  ["-timeout=5s -version", versionShown],
  ["---version", badSyntax("---version")],
  ["---x=1", badSyntax("---x=1")],
  ["---", badSyntax("---")],
  ["----", badSyntax("----")],
  ["-=x", badSyntax("-=x")],
  ["--=x", badSyntax("--=x")],
  ["-=", badSyntax("-=")],
  ["--=", badSyntax("--=")]
]

const names: ReadonlyArray<Row> = [
  ["--nope", undefinedFlag("nope")],
  ["-nope=1", undefinedFlag("nope")],
  ["--Version", undefinedFlag("Version")],
  ["--versio", undefinedFlag("versio")],
  ["--csi_address=/x", undefinedFlag("csi_address")],
  ["-v5", undefinedFlag("v5")],
  ["--feature-gates=LoggingAlphaOptions=true", undefinedFlag("feature-gates")],
  ["--kubeconfig=/x", undefinedFlag("kubeconfig")],
  ["--leader-election", undefinedFlag("leader-election")],
  [["--no such"], undefinedFlag("no such")]
]

const values: ReadonlyArray<Row> = [
  ["", pathMissing],
  ["--kubelet-registration-path=", pathMissing],
  [["--kubelet-registration-path", ""], pathMissing],
  ["--kubelet-registration-path", needsArgument("kubelet-registration-path")],
  ["--timeout", needsArgument("timeout")],
  ["--v", needsArgument("v")],
  ["--mode", needsArgument("mode")],
  ["--version --vmodule", needsArgument("vmodule")],
  ["--timeout 5s --version", versionShown],
  ["-v 5 --version", versionShown],
  ["--csi-address --version", pathMissing],
  ["--csi-address --nope --version", versionShown],
  ["--csi-address -h", pathMissing],
  ["--csi-address -- --version", versionShown],
  ["--csi-address=a=b=c --version", versionShown],
  [["--mode", "", "--version"], versionShown],
  [`--csi-address= --kubelet-registration-path /run/csi.sock`, runs],
  ["--csi-address= -kubelet-registration-path=/run/csi.sock", runs],
  [`${run} --mode=Kubelet-registration-probe`, runs],
  [`${run} --mode=node-register`, runs],
  [`${run} --mode=`, runs]
]

const bools: ReadonlyArray<Row> = [
  ...each(["1", "t", "T", "true", "TRUE", "True"], (value) => [`--version=${value}`, versionShown]),
  ...each(["0", "f", "F", "false", "FALSE", "False"], (value) => [`--version=${value}`, pathMissing]),
  ...each(["maybe", "yes", "tRUE", "", "2", "on"], (value) => [`--version=${value}`, badBool(`"${value}"`, "version")]),
  ["--version false", versionShown],
  ["--enable-pprof false --version", pathMissing],
  ["--enable-pprof=maybe", badBool('"maybe"', "enable-pprof")],
  ["--log-text-split-stream=maybe", badBool('"maybe"', "log-text-split-stream")],
  ["--log-json-split-stream=", badBool('""', "log-json-split-stream")],
  ["--automaxprocs --version", versionShown],
  ["--automaxprocs=false --version", versionShown],
  ["--automaxprocs=foo", badBool('"foo"', "automaxprocs", 'strconv.ParseBool: parsing "foo": invalid syntax')],
  ["--automaxprocs=", badBool('""', "automaxprocs", 'strconv.ParseBool: parsing "": invalid syntax')]
]

const endOfFlags: ReadonlyArray<Row> = [
  ["--version true", versionShown],
  ["--version extra --nope", versionShown],
  ["--version -- --nope", versionShown],
  ["--version - --nope", versionShown],
  [["--version", "", "--nope"], versionShown],
  ["-- --version", pathMissing],
  ["- --version", pathMissing],
  ["extra --version", pathMissing],
  ["extra --nope", pathMissing],
  ["extra -h", pathMissing],
  [`${run} -- --mode=kubelet-registration-probe`, runs]
]

const repeats: ReadonlyArray<Row> = [
  ["--version --version=false", pathMissing],
  ["--version=false --version", versionShown],
  ["--kubelet-registration-path=/x --kubelet-registration-path=", pathMissing],
  [`--mode=x ${probe}`, nobodyToAsk],
  [`--mode=kubelet-registration-probe ${run} --mode=x`, runs],
  ["--logging-format=xml --logging-format=json --version", versionShown],
  ["--v=abc --v=1", badLevel('"abc"')],
  ["--vmodule=a=1 --vmodule= --logging-format=json", loggingInvalid(vmoduleForbidden)]
]

/** Beside an endpoint a positive port cannot stand; that shows which sign was read. */
const port = (value: string) => `--kubelet-registration-path=/run/csi.sock --http-endpoint=:1 --health-port=${value}`
const ints: ReadonlyArray<Row> = [
  ...each(
    ["10", "0x10", "0X1f", "0b101", "0o17", "017", "0_17", "1_000", "0x_f", "+1", "9223372036854775807"],
    (value) => [port(value), bothHealthFlags]
  ),
  ...each(["0", "-0", "00", "-1", "-0x10", "-9223372036854775808"], (value) => [`${port(value)} ${run}`, runs]),
  ...each(["abc", "", "1e3", "1.0", "08", "0x", "0b2", "0o8", "1__0", "_1", "1_", "+-1", "0_8"], (value) => [
    `--health-port=${value}`,
    badValue(`"${value}"`, "health-port")
  ]),
  [["--health-port= 1"], badValue('" 1"', "health-port")],
  [["--health-port", "1 "], badValue('"1 "', "health-port")],
  ...each(["99999999999999999999", "9223372036854775808", "-9223372036854775809"], (value) => [
    `--health-port=${value}`,
    badValue(`"${value}"`, "health-port", "value out of range")
  ])
]

const durations: ReadonlyArray<Row> = [
  ...each(
    ["0", "-0", "+0", "5s", "-5s", "+5s", ".5s", "1.s", "1.5h", "1m30s", "1s1m", "1h1h", "1us", "1µs", "1μs", "1ns"],
    (value) => [`--timeout=${value} --version`, versionShown]
  ),
  ...each(["2562047h47m", "9223372036854775807ns", "-9223372036854775808ns", "0.000000000000000001s"], (value) => [
    `--timeout=${value} --version`,
    versionShown
  ]),
  ...each(
    ["abc", "5", "", "00", "1d", "1S", "1e3s", "s", ".s", "1..5s", "1m30", "--5s", "2562048h", "9223372036854775808ns"],
    (value) => [`--timeout=${value}`, badValue(`"${value}"`, "timeout")]
  ),
  [["--timeout=5 s"], badValue('"5 s"', "timeout")],
  [["--timeout= 5s"], badValue('" 5s"', "timeout")],
  [['--timeout=é"\n'], badValue(String.raw`"é\"\n"`, "timeout")],
  ["--connection-timeout=abc", badValue('"abc"', "connection-timeout")],
  ["--log-flush-frequency=abc", badValue('"abc"', "log-flush-frequency")],
  ["--log-flush-frequency=1ns --version", versionShown]
]

/** How a duration was read shows where the log refuses it. */
const readDurations: ReadonlyArray<Row> = (
  [
    ["0", "0s"],
    ["-0", "0s"],
    ["-1ns", "-1ns"],
    ["-1500ns", "-1.5µs"],
    ["-1μs", "-1µs"],
    ["-.5s", "-500ms"],
    ["-1.s", "-1s"],
    ["-1.5h", "-1h30m0s"],
    ["-1s1m", "-1m1s"],
    ["-90s", "-1m30s"],
    ["-1h0.25s", "-1h0m0.25s"]
  ] as const
).map(([given, shown]) => [`--log-flush-frequency=${given}`, notPositive(shown)])

const levels: ReadonlyArray<Row> = [
  ...each(["0", "5", "007", "2147483647"], (value) => [`--v=${value} --version`, versionShown]),
  ...each(["abc", "", "-1", "+1", "0x1", "1.5", "1_0"], (value) => [`--v=${value}`, badLevel(`"${value}"`)]),
  [["--v= 1"], badLevel('" 1"')],
  ...each(["2147483648", "99999999999999999999"], (value) => [
    `--v=${value}`,
    badLevel(`"${value}"`, "value out of range")
  ])
]

const quantityFlag = "log-json-info-buffer-size"
const quantitySyntax = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const quantities: ReadonlyArray<Row> = [
  ...each(
    ["0", "0k", "-0", "512", "1k", "2Ki", "3M", "4Gi", "1e3", "1E3", "0.1", "100m", "-1", "+1", "1e-3", "1Ei"],
    (value) => [`--${quantityFlag}=${value} --version`, versionShown]
  ),
  ...each(["1K", "1ki", "1e", "1Kii"], (value) => [
    `--${quantityFlag}=${value}`,
    badValue(`"${value}"`, quantityFlag, "unable to parse quantity's suffix")
  ]),
  ...each(["abc", "", "0x1", "1b", "1KB"], (value) => [
    `--${quantityFlag}=${value}`,
    badValue(`"${value}"`, quantityFlag, quantitySyntax)
  ]),
  ["--log-text-info-buffer-size=1K", badValue('"1K"', "log-text-info-buffer-size", "unable to parse quantity's suffix")]
]

const noPattern = (value: string, item = value) =>
  badValue(`"${value}"`, "vmodule", `"${item}" does not have the pattern=N format`)
const noVerbosity = (value: string, number: string, reason = "invalid syntax") =>
  badValue(
    `"${value}"`,
    "vmodule",
    `parsing verbosity in "${value}": strconv.ParseUint: parsing "${number}": ${reason}`
  )
const vmodules: ReadonlyArray<Row> = [
  ...each(["main=5", "main=5,connection=0", "m*=1,[a-c]?=2", "", ",", "a=1,", ",,a=1"], (value) => [
    `--vmodule=${value} --version`,
    versionShown
  ]),
  ["--vmodule=abc", noPattern("abc")],
  ["--vmodule=a=", noPattern("a=")],
  ["--vmodule==1", noPattern("=1")],
  ["--vmodule=a=1=2", noPattern("a=1=2")],
  ["--vmodule=a=1,b", noPattern("a=1,b", "b")],
  ["--vmodule=a=b", noVerbosity("a=b", "b")],
  ["--vmodule=a=-1", noVerbosity("a=-1", "-1")],
  ["--vmodule=a=2147483648", noVerbosity("a=2147483648", "2147483648", "value out of range")]
]

const helps: ReadonlyArray<Row> = [
  ...each(["-h", "--h", "-help", "--help", "-h=x", "--help=", "--help=false", "--help nope"], (words) => [words, help]),
  ["--helpp", undefinedFlag("helpp")],
  ["-H", undefinedFlag("H")],
  ["---help", badSyntax("---help")]
]

const logging: ReadonlyArray<Row> = [
  ...each(["xml", "", "JSON", "Text"], (value) => [`--logging-format=${value}`, loggingInvalid(notAFormat(value))]),
  ["--logging-format=json --vmodule=main=5", loggingInvalid(vmoduleForbidden)],
  ["--logging-format= --vmodule=main=5", loggingInvalid(notAFormat(""))],
  ["--logging-format=json --log-flush-frequency=0", notPositive("0s")],
  [
    "--vmodule=main=5 --logging-format=xml --log-flush-frequency=-1s",
    loggingInvalid(
      `[flushFrequency: Invalid value: "-1s": Must be greater than zero, ${notAFormat("xml")}, ${vmoduleForbidden}]`
    )
  ],
  ...each(
    [
      "--log-text-split-stream",
      "--log-text-info-buffer-size=1k",
      "--log-json-split-stream",
      "--log-json-info-buffer-size=1k"
    ],
    // Upstream forbids them for want of a feature gate.
    (word) => [`${word} --version`, versionShown]
  )
]

const order: ReadonlyArray<Row> = [
  ["-h --nope", help],
  ["-h --version", help],
  ["--version -h", help],
  ["--logging-format=xml -h", help],
  ["--nope -h", undefinedFlag("nope")],
  ["--timeout=abc --nope -h", badValue('"abc"', "timeout")],
  ["--version --nope", undefinedFlag("nope")],
  ["--version --timeout", needsArgument("timeout")],
  [`${probe} --nope`, undefinedFlag("nope")],
  ["--logging-format=xml --version", loggingInvalid(notAFormat("xml"))],
  ["--logging-format=xml", loggingInvalid(notAFormat("xml"))],
  [`--logging-format=xml ${probe}`, loggingInvalid(notAFormat("xml"))],
  [`--version ${probe}`, versionShown],
  [`${run} --version`, versionShown],
  ["--version --health-port=1 --http-endpoint=:1", versionShown],
  ["--mode=kubelet-registration-probe", pathMissing],
  ["--health-port=1 --http-endpoint=:1", pathMissing],
  ["--connection-timeout=1s", pathMissing],
  [probe, nobodyToAsk],
  [`${probe} --health-port=1 --http-endpoint=:1`, nobodyToAsk],
  [`${probe} --csi-address=`, nobodyToAsk],
  [`${run} --health-port=1 --http-endpoint=:1`, bothHealthFlags],
  [`${run} --connection-timeout=1s --health-port=1 --http-endpoint=:1`, bothHealthFlags],
  [`${run} --health-port=1 --http-endpoint=`, runs],
  [`${run} --connection-timeout=1s`, runs],
  [run, runs]
]

/** Of releases before v2.11. */
const klog: ReadonlyArray<Row> = [
  ...each(
    [
      "--add_dir_header",
      "--alsologtostderr",
      "--log_backtrace_at=main.go:1",
      "--log_dir=/tmp",
      "--log_file /tmp/x",
      "--log_file_max_size=1800",
      "--logtostderr",
      "--logtostderr=false",
      "--one_output",
      "--skip_headers",
      "--skip_log_headers",
      "--stderrthreshold=INFO",
      "-stderrthreshold 2"
    ],
    (words) => [`${words} --version`, versionShown]
  ),
  ["--logtostderr false --version", pathMissing],
  ["--log_dir", needsArgument("log_dir")],
  ["--log_dir --version", pathMissing],
  ["--alsologtostderr=maybe", badBool('"maybe"', "alsologtostderr")],
  ["--log_file_max_size=-1", badValue('"-1"', "log_file_max_size")],
  ["--log_file_max_size=abc", badValue('"abc"', "log_file_max_size")],
  [`${run} --logtostderr --alsologtostderr`, runs]
]

const addresses: ReadonlyArray<Row> = (
  [
    ["rel/path", noUnixAddress],
    ["localhost:1234", noUnixAddress],
    ["unix-abstract:name", noUnixAddress],
    ["unix://rel/path", hostInAddress],
    ["unix:///", "names no socket"],
    ["unix:/p%zz", "has a bad % escape"]
  ] as const
).map(([given, why]) => [`${run} --csi-address=${given}`, badAddress(given, why)])

const ours: ReadonlyArray<Row> = [
  ["--csi-connect-timeout=0 --version", versionShown],
  ["--csi-connect-timeout=30s --version", versionShown],
  ["--csi-connect-timeout=abc", badValue('"abc"', "csi-connect-timeout")],
  ["--csi-connect-timeout=-1s", badValue('"-1s"', "csi-connect-timeout", "must not be negative; 0 means for ever")],
  ["--registration-attempts=0 --version", versionShown],
  ["--registration-attempts=1e3", badValue('"1e3"', "registration-attempts")],
  ["--registration-attempts=-1", badValue('"-1"', "registration-attempts", "must not be negative; 0 means no limit")],
  ["--reannounce-on-driver-restart --version", versionShown],
  ["--reannounce-on-driver-restart=maybe", badBool('"maybe"', "reannounce-on-driver-restart")],
  ["--metrics-path=/a/b --version", versionShown],
  ["--metrics-path", needsArgument("metrics-path")],
  ["--metrics-path=metrics", badValue('"metrics"', "metrics-path", "must begin with a slash, such as /metrics")],
  [
    "--metrics-path=/livez",
    badValue('"/livez"', "metrics-path", "is the path of another endpoint; choose one such as /metrics")
  ],
  ["--probe=alive --version", versionShown],
  ["--probe", needsArgument("probe")],
  ["--probe=maybe", badValue('"maybe"', "probe", "must be alive or registered")],
  ["--probe=", badValue('""', "probe", "must be alive or registered")],
  [`${probe} --probe=alive`, nobodyToAsk],
  [`${probe} --probe=registered`, nobodyRegistered],
  [`${run} --probe=registered`, runs]
]

export const rows: ReadonlyArray<Row> = [
  ...dashes,
  ...names,
  ...values,
  ...bools,
  ...endOfFlags,
  ...repeats,
  ...ints,
  ...durations,
  ...readDurations,
  ...levels,
  ...quantities,
  ...vmodules,
  ...helps,
  ...logging,
  ...order,
  ...klog,
  ...addresses,
  ...ours
]
