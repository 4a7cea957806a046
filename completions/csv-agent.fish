# Completions of csv-agent for fish.
# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_csv_agent_global_optspecs
    string join \n S/session-dir= session= config= no-config profile= format= json color= width= q/quiet v/verbose lock-wait= no-input h/help V/version
end

function __fish_csv_agent_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_csv_agent_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_csv_agent_using_subcommand
    set -l cmd (__fish_csv_agent_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c csv-agent -n "__fish_csv_agent_needs_command" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -s V -l version -d 'Print version'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "ingest" -d 'Turn CSV and Parquet files into datasets of the session'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "ask" -d 'Ask a question about the datasets'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "chat" -d 'Ask one question after another'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "query" -d 'Run SQL over datasets or files; needs no model and no Python'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "describe" -d 'Show what each column of datasets or files contains; needs no model and no Python'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "datasets" -d 'List, show or remove datasets'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "show" -d 'Show the answer of an earlier turn again, in any format or as a page'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "export" -d 'Write earlier turns as a script that proves itself, a notebook or a document'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "rerun" -d 'Run the calls of an earlier turn again, without a model, and compare'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "reset" -d 'Forget what was asked; the datasets stay'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "doctor" -d 'Check what a question needs: key, server, Python, disk, and how its code is confined'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "config" -d 'Show each setting and where it comes from'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "decrypt" -d 'Write encrypted events from stdin as plain ones'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "completions" -d 'Print a script that completes commands and flags in your shell'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "schema" -d 'Print the JSON Schema of what csv-agent writes'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "help" -d 'Explain a command or a topic; with --json, everything for programs'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "generate" -d 'Write man pages or completions to a directory'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s n -l name -d 'Name of the dataset [default: the file\'s name]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l name-from -d 'Names of several datasets, of {stem}, {parent}, {grandparent} and {ending} of their paths' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l sheet -d 'Sheet of a workbook, or (as `--table`) table of a database, to read; or a pattern such as \'Q*\' [default: all that have data and are not hidden]. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l remote -d 'Register data of this Spark cluster, such as `sc://host:15002`, where it stays' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l if-exists -d 'What to do when the name is taken by other data' -r -f -a "error\t'Fail; the dataset stays as it is'
replace\t'Put the new data in its place'
skip\t'Keep the dataset and leave the file'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l delimiter -d 'What separates the cells: one or a few signs, or comma, tab, semicolon, pipe, space' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l widths -d 'Letters of each column of a file without delimiters, such as 5,10,3' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l quote -d 'What cells are quoted with: a sign, or none' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l escape -d 'What makes a quote within quotes text: a sign before it, backslash, doubled, none' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l encoding -d 'Encoding of the text, such as utf-8, latin1, utf-16le' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l skip-rows -d 'Lines to skip before the table, which then begins with its header' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l tables -d 'Which tables of a file that has several, below one another or side by side, are read' -r -f -a "first\t'The first one; where the next begins is told'
all\t'Each one, the second as `NAME_2`'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l columns -d 'Columns that the table lies in, such as 4-6 or D-F; the others are left out' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l comment -d 'What begins a comment line: a character, or none' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l null -d 'Cells that mean nothing is there, separated by commas, such as NA,-' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l dtype -d 'Type of a column, such as zip=text or amount=money. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l date-order -d 'Order of days that can be read in two ways, such as 01/02/2024' -r -f -a "dmy\t'Day, month, year'
mdy\t'Month, day, year'
ymd\t'Year, month, day'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l decimal -d 'Decimal mark of all numbers, a comma or a point' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l max-bytes -d 'Refuse a larger file' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l union -d 'Join all files into one dataset; they have the same columns'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l union-by-name -d 'Join all files into one dataset; what a file lacks is null'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l flatten -d 'Make a column of each value of nested JSON objects, such as `address.city`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l no-recursive -d 'Read what is in a directory, and nothing below it'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l no-header -d 'The first record is data: columns are named `column_1`, `column_2`, …'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l strict -d 'Refuse a file with rows of other lengths or bytes that are no text, instead of repairing it'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l dry-run -d 'Show what the file would become and keep nothing'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l question-file -d 'Read the question from a file' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l image -d 'Show the model this image (PNG, JPEG, GIF, WebP) with the question. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s o -l output -d 'Write the answer to a file instead of stdout, whole or not at all' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l report -d 'Write the findings for CI: `junit=FILE`, `sarif=FILE`, `md=FILE`, or `github` for annotations on stderr; implies `--verdict`. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l table -d 'Which table `--format csv` and `tsv` write [default: the last]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s f -l file -d 'Ingest this CSV file, directory or pattern first; `-` reads stdin. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s d -l dataset -d 'Let the model see only this dataset, or those of a pattern such as \'fraud_*\'. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l redact -d 'Keep the values of this column back, of all datasets or as `DATASET.COL`: tokens stand for them. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l events -d 'Also write the JSONL events to a file, or to an open descriptor: `fd:3`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l schema -d 'Ask for JSON of a JSON Schema: a file, or the schema itself where it begins with `{`; exit with 9 when the answer does not hold to it' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l fail-on -d 'Exit with 11 when the verdict is bad, 10 when it is a warning, either of which implies `--verdict`; with 9 when the answer has a number that no tool result contains [default: never]' -r -f -a "never\t'Nothing, whatever was said before'
bad\t'A bad verdict'
warning\t'A bad verdict or a warning'
ungrounded\t'A number that no tool result contains; may be combined with one of the others'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l require -d 'Exit with 9 unless the answer comes with a table or a chart. May be repeated' -r -f -a "table\t'A table'
chart\t'A chart'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l knowledge -d 'What you know of the data: a dictionary, units, conventions; the model reads it' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l thresholds -d 'Which values of a column are good, worth a warning or bad: ranges in TOML' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l language -d 'Language of the answer [default: that of the question]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l chart-theme -d 'Paper of charts [default: light]' -r -f -a "light\t'White paper'
dark\t'Dark paper'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l chart-scale -d 'Pixels of a chart\'s PNG to one of its SVG: 1, or 2 for fine screens and print [default: 1]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l images -d 'How a terminal shows charts; a pipe or a file gets their paths, whatever is said here [default: auto]' -r -f -a "auto\t'Pictures where the terminal says that it has them, else characters'
never\t'By their paths only'
kitty\t'Pictures, by the protocol of kitty and Ghostty'
iterm\t'Pictures, by the protocol of iTerm2, which others speak too'
sixel\t'Pictures, as sixels'
blocks\t'Coloured characters'
sketch\t'A few lines of plain text, for screen readers and logs'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l max-rounds -d 'Requests to the model; the last one must answer [default: 10]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l timeout -d 'Time for the whole turn, such as 90s or 5m [default: none]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l max-tokens -d 'Input and output tokens of the whole turn [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l max-cost -d 'Cost of the whole turn in USD, at the prices of your configuration [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l compact-at -d 'Tokens of the conversation before its oldest turns are summarised [default: 100000]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l tool-timeout -d 'Time for one run of Python code [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l memory -d 'Memory for Python code, such as `8GB` [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l retries -d 'Further tries of a request that failed in a way that may pass [default: 4]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l interpreter -d 'Where code runs; `hosted` and `both` upload the datasets [default: local]' -r -f -a "local\t'On this machine, confined'
hosted\t'In a container of the provider\'s, and not on this machine; the datasets are uploaded'
both\t'In either, as the model chooses; the datasets are uploaded'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l container-memory -d 'Memory of a container that the provider makes; the more, the dearer [default: 1g]' -r -f -a "1g\t'1 GB'
4g\t'4 GB'
16g\t'16 GB'
64g\t'64 GB'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l on-expired -d 'What to do when the provider\'s container has expired, and its variables with it [default: error]' -r -f -a "error\t'It fails and says so'
new\t'It goes on in another container, with the datasets and without the variables'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s m -l model -d 'Model to ask; `builtin` is the analyst inside the binary [default: gpt-6.2-sol]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l base-url -d 'Server to ask, up to and with `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l api -d 'What the server speaks [default: auto]' -r -f -a "auto\t'The Responses API, or Chat Completions where the server has no other'
responses\t'The Responses API'
chat\t'Chat Completions'
messages\t'Anthropic\'s Messages API; `auto` at api.anthropic.com'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l reasoning -d 'How hard a reasoning model thinks [default: the model\'s own]' -r -f -a "low\t'Little'
medium\t'As most questions need'
high\t'Much; slower and dearer'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l container -d 'The provider\'s container that code runs in: its id, or `auto` for one that the provider makes [default: auto]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l tool-choice -d 'Have each turn begin with a run of code in the provider\'s container [default: auto]' -r -f -a "auto\t'The model chooses'
code_interpreter\t'Each turn begins with a run in the container'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l record -d 'Write what is said to the model and what it answers to a cassette' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l replay -d 'Take the model\'s answers from a cassette; needs no key and no network' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l dry-run -d 'Show the request that would be sent first and the files that would be uploaded before it, and send nothing; needs no key'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l fresh -d 'Answer without what was asked before; this turn is remembered'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l ephemeral -d 'Work in a temporary session that sees the datasets and leaves nothing behind'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l abs-paths -d 'Add absolute paths of tables, charts and files to JSON'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l verdict -d 'Ask for a verdict on the data: good, warning or bad, with findings'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l allow-untooled -d 'Let an answer pass `--fail-on`, `--require` and `--schema` that a model without tools gave'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l no-rows -d 'Keep rows back: the model sees schemas and aggregates only'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l stream -d 'Show the answer while it is being written; the default'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l no-stream -d 'Wait for whole responses'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l require-sandbox -d 'Run no code unless its confinement is complete; `csv-agent doctor` shows what holds'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l allow-unconfined -d 'Run code also where nothing keeps it from reading and writing your files'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l chain -d 'Let the server keep responses, and send it only what it does not have'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l input -d 'What a pipe on stdin holds: a question a line, questions that each end with a NUL, or a JSON string or object with `question` a line' -r -f -a "lines\t'One a line'
nul\t'Each up to a NUL, or to the end'
jsonl\t'One JSON value a line'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s f -l file -d 'Ingest this CSV file, directory or pattern first; `-` reads stdin. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s d -l dataset -d 'Let the model see only this dataset, or those of a pattern such as \'fraud_*\'. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l redact -d 'Keep the values of this column back, of all datasets or as `DATASET.COL`: tokens stand for them. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l events -d 'Also write the JSONL events to a file, or to an open descriptor: `fd:3`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l schema -d 'Ask for JSON of a JSON Schema: a file, or the schema itself where it begins with `{`; exit with 9 when the answer does not hold to it' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l fail-on -d 'Exit with 11 when the verdict is bad, 10 when it is a warning, either of which implies `--verdict`; with 9 when the answer has a number that no tool result contains [default: never]' -r -f -a "never\t'Nothing, whatever was said before'
bad\t'A bad verdict'
warning\t'A bad verdict or a warning'
ungrounded\t'A number that no tool result contains; may be combined with one of the others'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l require -d 'Exit with 9 unless the answer comes with a table or a chart. May be repeated' -r -f -a "table\t'A table'
chart\t'A chart'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l knowledge -d 'What you know of the data: a dictionary, units, conventions; the model reads it' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l thresholds -d 'Which values of a column are good, worth a warning or bad: ranges in TOML' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l language -d 'Language of the answer [default: that of the question]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l chart-theme -d 'Paper of charts [default: light]' -r -f -a "light\t'White paper'
dark\t'Dark paper'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l chart-scale -d 'Pixels of a chart\'s PNG to one of its SVG: 1, or 2 for fine screens and print [default: 1]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l images -d 'How a terminal shows charts; a pipe or a file gets their paths, whatever is said here [default: auto]' -r -f -a "auto\t'Pictures where the terminal says that it has them, else characters'
never\t'By their paths only'
kitty\t'Pictures, by the protocol of kitty and Ghostty'
iterm\t'Pictures, by the protocol of iTerm2, which others speak too'
sixel\t'Pictures, as sixels'
blocks\t'Coloured characters'
sketch\t'A few lines of plain text, for screen readers and logs'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l max-rounds -d 'Requests to the model; the last one must answer [default: 10]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l timeout -d 'Time for the whole turn, such as 90s or 5m [default: none]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l max-tokens -d 'Input and output tokens of the whole turn [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l max-cost -d 'Cost of the whole turn in USD, at the prices of your configuration [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l compact-at -d 'Tokens of the conversation before its oldest turns are summarised [default: 100000]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l tool-timeout -d 'Time for one run of Python code [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l memory -d 'Memory for Python code, such as `8GB` [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l retries -d 'Further tries of a request that failed in a way that may pass [default: 4]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l interpreter -d 'Where code runs; `hosted` and `both` upload the datasets [default: local]' -r -f -a "local\t'On this machine, confined'
hosted\t'In a container of the provider\'s, and not on this machine; the datasets are uploaded'
both\t'In either, as the model chooses; the datasets are uploaded'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l container-memory -d 'Memory of a container that the provider makes; the more, the dearer [default: 1g]' -r -f -a "1g\t'1 GB'
4g\t'4 GB'
16g\t'16 GB'
64g\t'64 GB'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l on-expired -d 'What to do when the provider\'s container has expired, and its variables with it [default: error]' -r -f -a "error\t'It fails and says so'
new\t'It goes on in another container, with the datasets and without the variables'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s m -l model -d 'Model to ask; `builtin` is the analyst inside the binary [default: gpt-6.2-sol]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l base-url -d 'Server to ask, up to and with `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l api -d 'What the server speaks [default: auto]' -r -f -a "auto\t'The Responses API, or Chat Completions where the server has no other'
responses\t'The Responses API'
chat\t'Chat Completions'
messages\t'Anthropic\'s Messages API; `auto` at api.anthropic.com'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l reasoning -d 'How hard a reasoning model thinks [default: the model\'s own]' -r -f -a "low\t'Little'
medium\t'As most questions need'
high\t'Much; slower and dearer'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l container -d 'The provider\'s container that code runs in: its id, or `auto` for one that the provider makes [default: auto]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l tool-choice -d 'Have each turn begin with a run of code in the provider\'s container [default: auto]' -r -f -a "auto\t'The model chooses'
code_interpreter\t'Each turn begins with a run in the container'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l record -d 'Write what is said to the model and what it answers to a cassette' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l replay -d 'Take the model\'s answers from a cassette; needs no key and no network' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l fresh -d 'Answer without what was asked before; this turn is remembered'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l ephemeral -d 'Work in a temporary session that sees the datasets and leaves nothing behind'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l abs-paths -d 'Add absolute paths of tables, charts and files to JSON'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l verdict -d 'Ask for a verdict on the data: good, warning or bad, with findings'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l allow-untooled -d 'Let an answer pass `--fail-on`, `--require` and `--schema` that a model without tools gave'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l no-rows -d 'Keep rows back: the model sees schemas and aggregates only'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l stream -d 'Show the answer while it is being written; the default'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l no-stream -d 'Wait for whole responses'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l require-sandbox -d 'Run no code unless its confinement is complete; `csv-agent doctor` shows what holds'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l allow-unconfined -d 'Run code also where nothing keeps it from reading and writing your files'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l chain -d 'Let the server keep responses, and send it only what it does not have'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s f -l file -d 'Query this file, directory or pattern without adding it to the session; `-` reads stdin. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s d -l dataset -d 'Query only this dataset, or those of a pattern such as \'fraud_*\'. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s o -l output -d 'Write the result to a file; a name that ends in .csv, .tsv, .json, .jsonl, .md or .parquet sets the format' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l memory -d 'Memory for the query, such as `8GB` [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l timeout -d 'Time for the query, such as 90s or 5m [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l top -d 'How many of the most frequent values to show of each column, at most 100' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l memory -d 'Memory for the queries, such as `8GB` [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l timeout -d 'Time for the queries, such as 90s or 5m [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l head -d 'Print the first N rows of each' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l rm -d 'Remove this dataset, or those that match a pattern. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l tree -d 'Print the directories of the sources, with the dataset of each file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l names -d 'Print the names only, one a line'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s 0 -l null -d 'End each name with a NUL instead of a line feed, for `xargs -0`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l schema -d 'Print the columns with their types and how many values are missing'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s y -l yes -d 'Remove without asking'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s o -l output -d 'Write to a file instead of stdout, whole or not at all' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l table -d 'Which table `--format csv` and `tsv` write [default: the last]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l images -d 'How a terminal shows charts; a pipe or a file gets their paths, whatever is said here [default: auto]' -r -f -a "auto\t'Pictures where the terminal says that it has them, else characters'
never\t'By their paths only'
kitty\t'Pictures, by the protocol of kitty and Ghostty'
iterm\t'Pictures, by the protocol of iTerm2, which others speak too'
sixel\t'Pictures, as sixels'
blocks\t'Coloured characters'
sketch\t'A few lines of plain text, for screen readers and logs'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l chart-theme -d 'Paper of charts that a terminal shows as pictures [default: light]' -r -f -a "light\t'White paper'
dark\t'Dark paper'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l html -d 'Write one page for a browser instead: answers, tables, charts, files, code and what happened' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l abs-paths -d 'Add absolute paths of tables, charts and files to JSON'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l egress -d 'Show what the turn sent to a server instead, and all turns together: text or JSON'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s o -l output -d 'Write to a file instead of stdout, whole or not at all' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l against -d 'Take this file in place of a dataset, read in the same way; of one that is on a cluster, another path or table there. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s o -l output -d 'Write to a file instead of stdout, whole or not at all' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l table -d 'Which table `--format csv` and `tsv` write [default: the last]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l check -d 'End with status 12 unless everything is the same'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l datasets -d 'Also remove the datasets'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l all -d 'Remove everything, and the directory'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s y -l yes -d 'Do not ask'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l dry-run -d 'Show what would go and remove nothing'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l session -d 'Look at every file of the session instead; with ID, check as ever for that session' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s m -l model -d 'Model to ask; `builtin` is the analyst inside the binary [default: gpt-6.2-sol]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l base-url -d 'Server to ask, up to and with `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l repair -d 'Mend the files of the session; what does not fit is kept aside'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l offline -d 'Ask no server'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l require-sandbox -d 'End with status 8 unless the confinement is complete'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l knowledge -d 'What you know of the data: a dictionary, units, conventions; the model reads it' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l thresholds -d 'Which values of a column are good, worth a warning or bad: ranges in TOML' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l language -d 'Language of the answer [default: that of the question]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l chart-theme -d 'Paper of charts [default: light]' -r -f -a "light\t'White paper'
dark\t'Dark paper'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l chart-scale -d 'Pixels of a chart\'s PNG to one of its SVG: 1, or 2 for fine screens and print [default: 1]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l images -d 'How a terminal shows charts; a pipe or a file gets their paths, whatever is said here [default: auto]' -r -f -a "auto\t'Pictures where the terminal says that it has them, else characters'
never\t'By their paths only'
kitty\t'Pictures, by the protocol of kitty and Ghostty'
iterm\t'Pictures, by the protocol of iTerm2, which others speak too'
sixel\t'Pictures, as sixels'
blocks\t'Coloured characters'
sketch\t'A few lines of plain text, for screen readers and logs'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l max-rounds -d 'Requests to the model; the last one must answer [default: 10]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l timeout -d 'Time for the whole turn, such as 90s or 5m [default: none]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l max-tokens -d 'Input and output tokens of the whole turn [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l max-cost -d 'Cost of the whole turn in USD, at the prices of your configuration [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l compact-at -d 'Tokens of the conversation before its oldest turns are summarised [default: 100000]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l tool-timeout -d 'Time for one run of Python code [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l memory -d 'Memory for Python code, such as `8GB` [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l retries -d 'Further tries of a request that failed in a way that may pass [default: 4]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l interpreter -d 'Where code runs; `hosted` and `both` upload the datasets [default: local]' -r -f -a "local\t'On this machine, confined'
hosted\t'In a container of the provider\'s, and not on this machine; the datasets are uploaded'
both\t'In either, as the model chooses; the datasets are uploaded'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l container-memory -d 'Memory of a container that the provider makes; the more, the dearer [default: 1g]' -r -f -a "1g\t'1 GB'
4g\t'4 GB'
16g\t'16 GB'
64g\t'64 GB'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l on-expired -d 'What to do when the provider\'s container has expired, and its variables with it [default: error]' -r -f -a "error\t'It fails and says so'
new\t'It goes on in another container, with the datasets and without the variables'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -s m -l model -d 'Model to ask; `builtin` is the analyst inside the binary [default: gpt-6.2-sol]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l base-url -d 'Server to ask, up to and with `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l api -d 'What the server speaks [default: auto]' -r -f -a "auto\t'The Responses API, or Chat Completions where the server has no other'
responses\t'The Responses API'
chat\t'Chat Completions'
messages\t'Anthropic\'s Messages API; `auto` at api.anthropic.com'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l reasoning -d 'How hard a reasoning model thinks [default: the model\'s own]' -r -f -a "low\t'Little'
medium\t'As most questions need'
high\t'Much; slower and dearer'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l no-rows -d 'Keep rows back: the model sees schemas and aggregates only'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l stream -d 'Show the answer while it is being written; the default'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l no-stream -d 'Wait for whole responses'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l require-sandbox -d 'Run no code unless its confinement is complete; `csv-agent doctor` shows what holds'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l allow-unconfined -d 'Run code also where nothing keeps it from reading and writing your files'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -s h -l help -d 'Print help'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent` upward]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l session -d 'Session with this name in the directory `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l config -d 'Configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l profile -d 'Profile of the configuration whose settings hold; `local` is built in' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l format -d 'How the answer is written to stdout [default: text]' -r -f -a "text\t'For people: tables, charts, the reply; plain Markdown in a pipe'
reply\t'The text of the reply only'
json\t'One document'
jsonl\t'One event a line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Tables, charts and the reply as Markdown'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l color -d 'When to use colour [default: auto]' -r -f -a "auto\t'On a terminal, unless the environment says otherwise'
always\t'In a pipe as well'
never\t'Not at all'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l width -d 'Columns a line may take [default: the terminal\'s; no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l lock-wait -d 'How long to wait for another csv-agent on the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l no-config -d 'Read no configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l json -d 'Short for `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -s q -l quiet -d 'Say nothing on stderr but warnings and errors'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -s v -l verbose -d 'Say more on stderr: what is run; twice, also what came back'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l no-input -d 'Never ask back; fail where an answer would be needed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -s h -l help -d 'Print help'
