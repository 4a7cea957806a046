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

complete -c csv-agent -n "__fish_csv_agent_needs_command" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -s V -l version -d 'Print version'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "ingest" -d 'Turn CSV, Parquet and other files into datasets'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "ask" -d 'Ask a question about the datasets'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "chat" -d 'Ask one question after another'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "query" -d 'Run SQL on datasets or files, without a model or Python'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "describe" -d 'Summarize columns of datasets or files, without a model or Python'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "check" -d 'Check data against rules in a file, without a model or Python'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "diff" -d 'Show where two versions of a table differ'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "datasets" -d 'List, show or remove datasets'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "show" -d 'Show an earlier answer again, in any format or as a page'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "export" -d 'Save earlier turns as a script, a notebook or a document'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "report" -d 'Write earlier answers as a report to share'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "rerun" -d 'Repeat an earlier turn without a model, and compare the results'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "mcp" -d 'Serve other agents over the Model Context Protocol (MCP)'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "reset" -d 'Forget the conversation, but keep the datasets'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "setup" -d 'Make the Python environment now, or remove it'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "doctor" -d 'Check the key, the server, Python, the disk and the confinement'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "config" -d 'Show each setting and its origin, or change your own settings'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "decrypt" -d 'Decrypt the JSONL events on stdin'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "completions" -d 'Print a completion script for your shell'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "schema" -d 'Print the JSON Schema of an output or of the configuration'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "help" -d 'Explain a command or a topic'
complete -c csv-agent -n "__fish_csv_agent_needs_command" -f -a "generate" -d 'Write man pages or completions to a directory'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s n -l name -d 'Name of the dataset [default: the file\'s name]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l name-from -d 'Names of several datasets, made from their paths' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l sheet -d 'Sheet or database table to read [default: all]. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l remote -d 'Register data that stays on this Spark cluster' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l if-exists -d 'What to do if other data already has the name' -r -f -a "ask\t'Ask about a single file on a terminal. Otherwise fail, and keep the dataset'
error\t'Fail, and keep the dataset'
replace\t'Replace the dataset'
skip\t'Keep the dataset, and skip the file'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l max-bytes -d 'Refuse a file that is larger than this' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l delimiter -d 'Delimiter of the cells' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l widths -d 'Widths of the columns of a file without delimiters, such as 5,10,3' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l quote -d 'Quote character, or none' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l escape -d 'How a quote is written in a quoted cell' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l encoding -d 'Encoding, such as utf-8, latin1 or utf-16le' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l skip-rows -d 'Number of lines to skip before the header' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l tables -d 'Which tables to read if a file has several' -r -f -a "first\t'Only the first. A message says where the next one begins'
all\t'All of them. The second becomes `NAME_2`'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l columns -d 'Columns of the table, such as 4-6 or D-F' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l comment -d 'Character that begins a comment line, or none' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l null -d 'Values to treat as missing, such as NA,-' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l dtype -d 'Type of a column, such as zip=text. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l date-order -d 'Order of ambiguous dates such as 01/02/2024' -r -f -a "dmy\t'Day, month, year'
mdy\t'Month, day, year'
ymd\t'Year, month, day'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l decimal -d 'Decimal mark of all numbers: a comma or a point' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l union -d 'Join all files into one dataset'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l union-by-name -d 'Join all files into one dataset, even if columns differ'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l flatten -d 'Make columns of nested JSON values, such as `address.city`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l no-recursive -d 'Ignore the subdirectories of a directory'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l strict -d 'Refuse a damaged file instead of repairing it'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l dry-run -d 'Show what the files would become, and keep nothing'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l no-header -d 'The first row is data, not a header'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ingest" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l question-file -d 'Read the question from a file' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l image -d 'Show the model this image together with the question. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l pick -d 'Choose one of the readings that the built-in analyst offers, by its number' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s o -l output -d 'Write the answer to a file instead of stdout' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l report -d 'Write the findings as a report for CI. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l table -d 'Table to write with `--format csv` or `tsv` [default: the last]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s f -l file -d 'Ask about this file or directory only. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s d -l dataset -d 'Ask about this dataset only. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l redact -d 'Hide the values of this column from the model. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l events -d 'Also write JSONL events to a file or an open descriptor, such as `fd:3`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l charts -d 'Write charts to this directory' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l schema -d 'Require an answer in JSON that matches this JSON Schema' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l fail-on -d 'Exit with an error status if the data is bad [default: never]' -r -f -a "never\t'Turn the check off, and ignore an earlier `--fail-on`'
bad\t'Exit with 11 if the verdict is bad'
warning\t'Exit with 11 if the verdict is bad, and with 10 if it is a warning'
ungrounded\t'Exit with 9 if the answer has a number that no tool result contains. Can be combined with `bad` or `warning`'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l require -d 'Require a table or a chart in the answer. May be repeated' -r -f -a "table\t'A table'
chart\t'A chart'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l knowledge -d 'Give the model this description of the data' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l thresholds -d 'Rate values with the ranges in this TOML file' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l language -d 'Language of the answer [default: that of the question]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l chart-theme -d 'Background of charts [default: light]' -r -f -a "light\t'A white background'
dark\t'A dark background'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l chart-scale -d 'Resolution of PNG charts, 1 or 2 [default: 1]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l images -d 'How a terminal shows charts [default: auto]' -r -f -a "auto\t'Pictures if the terminal says that it supports them, otherwise `blocks`'
never\t'Only the paths of the files'
kitty\t'Pictures, with the protocol of kitty and Ghostty'
iterm\t'Pictures, with the protocol of iTerm2, which other terminals support too'
sixel\t'Pictures, as sixels'
blocks\t'Colored characters'
sketch\t'A few lines of plain text, for screen readers and logs'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l max-rounds -d 'Maximum number of requests to the model per question [default: 10]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l timeout -d 'Time limit of a question, such as 90s or 5m [default: none]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l max-tokens -d 'Maximum input and output tokens of a question [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l max-cost -d 'Maximum cost of a question in USD [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l compact-at -d 'Summarize the oldest turns if the conversation has more tokens than this [default: 100000]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l tool-timeout -d 'Time limit of one run of Python code [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l memory -d 'Memory limit of Python code, such as 8GB [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l retries -d 'Retries after a temporary failure of a request [default: 4]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l interpreter -d 'Where code runs [default: local]' -r -f -a "local\t'On this machine, confined'
hosted\t'In a container of the provider. csv-agent uploads the datasets'
both\t'On this machine or in a container, as the model chooses. csv-agent uploads the datasets'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l container-memory -d 'Memory of a container that csv-agent makes [default: 1g]' -r -f -a "1g\t'1 GB'
4g\t'4 GB'
16g\t'16 GB'
64g\t'64 GB'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l on-expired -d 'What to do if the provider\'s container has expired [default: error]' -r -f -a "error\t'Fail'
new\t'Continue in a new container, with the datasets but without the variables'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s m -l model -d 'Model to ask [default: gpt-6.2-sol]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l base-url -d 'URL of the model\'s server, including `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l api -d 'API of the server [default: auto]' -r -f -a "auto\t'The Responses API, or Chat Completions if the server does not have it'
responses\t'The Responses API'
chat\t'Chat Completions'
messages\t'Anthropic\'s Messages API. `auto` chooses it for api.anthropic.com'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l reasoning -d 'How much a reasoning model thinks [default: the model\'s own]' -r -f -a "low\t'Little'
medium\t'Enough for most questions'
high\t'A lot. Slower and more expensive'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l container -d 'ID of the provider\'s container in which code runs [default: auto]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l tool-choice -d 'Whether a turn must begin with code in the provider\'s container [default: auto]' -r -f -a "auto\t'The model decides'
code_interpreter\t'Each turn begins with a run of code in the container'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l record -d 'Record the exchange with the model in this file, a cassette' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l replay -d 'Replay the model\'s responses from a cassette' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l dry-run -d 'Show what would be sent, and send nothing'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l fresh -d 'Start a new conversation in this session'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l ephemeral -d 'Use a temporary session, and do not keep it'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l abs-paths -d 'Add absolute paths of tables, charts and files to JSON'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l verdict -d 'Ask for a verdict on the data, with findings'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l allow-untooled -d 'Let a model without tools pass the checks'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l no-rows -d 'Let the model see only schemas, aggregates, and values that 5 or more rows share'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l stream -d 'Show the answer while the model writes it. This is the default'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l no-stream -d 'Show the answer when it is complete'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l require-sandbox -d 'Run no code unless the confinement is complete'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l allow-unconfined -d 'Run code even if it could read and write your files'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l chain -d 'Let the server keep the conversation'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand ask" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l input -d 'How stdin separates questions if it is a pipe' -r -f -a "lines\t'One question per line'
nul\t'A NUL byte after each question, which can have several lines'
jsonl\t'One JSON value per line: a string, or an object with the field `question`'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s f -l file -d 'Ask about this file or directory only. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s d -l dataset -d 'Ask about this dataset only. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l redact -d 'Hide the values of this column from the model. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l events -d 'Also write JSONL events to a file or an open descriptor, such as `fd:3`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l charts -d 'Write charts to this directory' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l schema -d 'Require an answer in JSON that matches this JSON Schema' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l fail-on -d 'Exit with an error status if the data is bad [default: never]' -r -f -a "never\t'Turn the check off, and ignore an earlier `--fail-on`'
bad\t'Exit with 11 if the verdict is bad'
warning\t'Exit with 11 if the verdict is bad, and with 10 if it is a warning'
ungrounded\t'Exit with 9 if the answer has a number that no tool result contains. Can be combined with `bad` or `warning`'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l require -d 'Require a table or a chart in the answer. May be repeated' -r -f -a "table\t'A table'
chart\t'A chart'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l knowledge -d 'Give the model this description of the data' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l thresholds -d 'Rate values with the ranges in this TOML file' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l language -d 'Language of the answer [default: that of the question]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l chart-theme -d 'Background of charts [default: light]' -r -f -a "light\t'A white background'
dark\t'A dark background'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l chart-scale -d 'Resolution of PNG charts, 1 or 2 [default: 1]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l images -d 'How a terminal shows charts [default: auto]' -r -f -a "auto\t'Pictures if the terminal says that it supports them, otherwise `blocks`'
never\t'Only the paths of the files'
kitty\t'Pictures, with the protocol of kitty and Ghostty'
iterm\t'Pictures, with the protocol of iTerm2, which other terminals support too'
sixel\t'Pictures, as sixels'
blocks\t'Colored characters'
sketch\t'A few lines of plain text, for screen readers and logs'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l max-rounds -d 'Maximum number of requests to the model per question [default: 10]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l timeout -d 'Time limit of a question, such as 90s or 5m [default: none]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l max-tokens -d 'Maximum input and output tokens of a question [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l max-cost -d 'Maximum cost of a question in USD [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l compact-at -d 'Summarize the oldest turns if the conversation has more tokens than this [default: 100000]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l tool-timeout -d 'Time limit of one run of Python code [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l memory -d 'Memory limit of Python code, such as 8GB [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l retries -d 'Retries after a temporary failure of a request [default: 4]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l interpreter -d 'Where code runs [default: local]' -r -f -a "local\t'On this machine, confined'
hosted\t'In a container of the provider. csv-agent uploads the datasets'
both\t'On this machine or in a container, as the model chooses. csv-agent uploads the datasets'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l container-memory -d 'Memory of a container that csv-agent makes [default: 1g]' -r -f -a "1g\t'1 GB'
4g\t'4 GB'
16g\t'16 GB'
64g\t'64 GB'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l on-expired -d 'What to do if the provider\'s container has expired [default: error]' -r -f -a "error\t'Fail'
new\t'Continue in a new container, with the datasets but without the variables'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s m -l model -d 'Model to ask [default: gpt-6.2-sol]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l base-url -d 'URL of the model\'s server, including `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l api -d 'API of the server [default: auto]' -r -f -a "auto\t'The Responses API, or Chat Completions if the server does not have it'
responses\t'The Responses API'
chat\t'Chat Completions'
messages\t'Anthropic\'s Messages API. `auto` chooses it for api.anthropic.com'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l reasoning -d 'How much a reasoning model thinks [default: the model\'s own]' -r -f -a "low\t'Little'
medium\t'Enough for most questions'
high\t'A lot. Slower and more expensive'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l container -d 'ID of the provider\'s container in which code runs [default: auto]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l tool-choice -d 'Whether a turn must begin with code in the provider\'s container [default: auto]' -r -f -a "auto\t'The model decides'
code_interpreter\t'Each turn begins with a run of code in the container'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l record -d 'Record the exchange with the model in this file, a cassette' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l replay -d 'Replay the model\'s responses from a cassette' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l fresh -d 'Start a new conversation in this session'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l ephemeral -d 'Use a temporary session, and do not keep it'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l abs-paths -d 'Add absolute paths of tables, charts and files to JSON'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l verdict -d 'Ask for a verdict on the data, with findings'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l allow-untooled -d 'Let a model without tools pass the checks'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l no-rows -d 'Let the model see only schemas, aggregates, and values that 5 or more rows share'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l stream -d 'Show the answer while the model writes it. This is the default'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l no-stream -d 'Show the answer when it is complete'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l require-sandbox -d 'Run no code unless the confinement is complete'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l allow-unconfined -d 'Run code even if it could read and write your files'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l chain -d 'Let the server keep the conversation'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand chat" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s f -l file -d 'Query this file or directory. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s d -l dataset -d 'Query only this dataset. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s o -l output -d 'Write the result to a file instead of stdout' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l memory -d 'Memory limit, such as 8GB [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l timeout -d 'Time limit, such as 90s or 5m [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand query" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l top -d 'Number of frequent values to show per column, at most 100' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l memory -d 'Memory limit, such as 8GB [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l timeout -d 'Time limit, such as 90s or 5m [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand describe" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l model -d 'Model to compile rules in words that the built-in analyst does not understand' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l base-url -d 'URL of the model\'s server, including `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l against -d 'Compare with this baseline [default: `checks.baseline.json` beside the rules, if it exists]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l date-order -d 'Order of ambiguous dates such as 01/02/2024 [default: detected]' -r -f -a "dmy\t'Day, month, year'
mdy\t'Month, day, year'
ymd\t'Year, month, day'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l fail-on -d 'Which broken rules make the command exit with 10 or 11' -r -f -a "never\t'None of them'
bad\t'Those with the severity `bad`: exit with 11'
warning\t'All of them: exit with 11, or with 10 if only rules with the severity `warning` are broken'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l report -d 'Write the results as a report for CI. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l memory -d 'Memory limit, such as 8GB [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l timeout -d 'Time limit, such as 90s or 5m [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l update -d 'Compile new and changed rules in words, and write them to `checks.lock`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l locked -d 'Require that `checks.lock` has the rules of the file and no others'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l accept -d 'Accept the data as it is, and write `checks.baseline.json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l strict -d 'Refuse data with rows that do not fit the table, and data without rows'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l init -d 'Propose rules for data files, and print them'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand check" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -s k -l key -d 'A column that identifies the rows. May be repeated [default: the first one that does]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l ignore -d 'Do not compare this column. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l date-order -d 'Order of ambiguous dates such as 01/02/2024 [default: detected]' -r -f -a "dmy\t'Day, month, year'
mdy\t'Month, day, year'
ymd\t'Year, month, day'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l memory -d 'Memory limit, such as 8GB [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l timeout -d 'Time limit, such as 90s or 5m [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand diff" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l head -d 'Show the first N rows of each dataset' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l rm -d 'Remove a dataset, or all that match a pattern. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l tree -d 'Show the directories of the files, with their datasets'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l names -d 'Print only the names, one per line'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s 0 -l null -d 'End each name with a NUL byte, for `xargs -0`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l schema -d 'Show the columns, their types and their missing values'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s y -l yes -d 'Do not ask for confirmation'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand datasets" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s o -l output -d 'Write the answer to a file instead of stdout' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l table -d 'Table to write with `--format csv` or `tsv` [default: the last]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l images -d 'How a terminal shows charts [default: auto]' -r -f -a "auto\t'Pictures if the terminal says that it supports them, otherwise `blocks`'
never\t'Only the paths of the files'
kitty\t'Pictures, with the protocol of kitty and Ghostty'
iterm\t'Pictures, with the protocol of iTerm2, which other terminals support too'
sixel\t'Pictures, as sixels'
blocks\t'Colored characters'
sketch\t'A few lines of plain text, for screen readers and logs'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l chart-theme -d 'Background of charts that a terminal shows as pictures [default: light]' -r -f -a "light\t'A white background'
dark\t'A dark background'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l html -d 'Write a page for a browser' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l abs-paths -d 'Add absolute paths of tables, charts and files to JSON'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l egress -d 'Show what the turn sent to servers, instead of the answer'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand show" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s o -l output -d 'Write to a file instead of stdout' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand export" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l from -d 'Answer the questions of this Markdown file, and put each answer in place of its question' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -s o -l output -d 'Write the report to this file instead of stdout' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l title -d 'Title of the report [default: the names of the datasets]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l theme -d 'Background of the HTML [default: auto]' -r -f -a "auto\t'As the reader\'s browser prefers'
light\t'White'
dark\t'Dark'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -s f -l file -d 'Ask about this file or directory only. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -s d -l dataset -d 'Ask about this dataset only. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -s m -l model -d 'Model to ask [default: gpt-6.2-sol]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l base-url -d 'URL of the model\'s server, including `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l timeout -d 'Time limit for each answer, such as 90s or 5m [default: none]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l replay -d 'Replay the model\'s responses from a cassette' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l no-code -d 'Leave out how the answers were computed'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand report" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l against -d 'Use this file in place of a dataset. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s o -l output -d 'Write the answer to a file instead of stdout' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l table -d 'Table to write with `--format csv` or `tsv` [default: the last]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l check -d 'Exit with status 12 if a result differs'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand rerun" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -s f -l file -d 'Read this file or directory at the start. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l allow -d 'Let the client read files below this directory [default: the current directory]. May be repeated' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l redact -d 'Hide the values of this column from the client. May be repeated' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l thresholds -d 'Rate values with the ranges in this TOML file' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l tool-timeout -d 'Time limit of a call of Python or SQL, such as 90s' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l memory -d 'Memory limit, such as 8GB [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l print-config -d 'Print the configuration of this client, and do not start the server' -r -f -a "claude\t'Claude Code and Claude Desktop'
codex\t'Codex'
cursor\t'Cursor'
vscode\t'VS Code'
gemini\t'Gemini CLI'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l read-only -d 'Do not let the client add or replace datasets'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l no-rows -d 'Let the client see only schemas, aggregates, and values that 5 or more rows share'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand mcp" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l datasets -d 'Also remove the datasets'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l all -d 'Remove the whole session, with its directory'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s y -l yes -d 'Do not ask for confirmation'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l dry-run -d 'Show what would be removed, and remove nothing'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand reset" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l remove -d 'Remove the environment'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand setup" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l session -d 'Check the files of the session instead' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s m -l model -d 'Model to check [default: gpt-6.2-sol]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l base-url -d 'URL of the model\'s server, including `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l repair -d 'Repair the files of the session'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l offline -d 'Contact no server'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l require-sandbox -d 'Exit with status 8 unless the confinement is complete'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand doctor" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -f -a "show" -d 'Print each setting with its value and its origin'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -f -a "set" -d 'Set a setting in your own configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -f -a "unset" -d 'Remove a setting from your own configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and not __fish_seen_subcommand_from show set unset edit" -f -a "edit" -d 'Open your own configuration file in `$VISUAL` or `$EDITOR`, and check it afterwards'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l knowledge -d 'Give the model this description of the data' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l thresholds -d 'Rate values with the ranges in this TOML file' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l language -d 'Language of the answer [default: that of the question]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l chart-theme -d 'Background of charts [default: light]' -r -f -a "light\t'A white background'
dark\t'A dark background'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l chart-scale -d 'Resolution of PNG charts, 1 or 2 [default: 1]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l images -d 'How a terminal shows charts [default: auto]' -r -f -a "auto\t'Pictures if the terminal says that it supports them, otherwise `blocks`'
never\t'Only the paths of the files'
kitty\t'Pictures, with the protocol of kitty and Ghostty'
iterm\t'Pictures, with the protocol of iTerm2, which other terminals support too'
sixel\t'Pictures, as sixels'
blocks\t'Colored characters'
sketch\t'A few lines of plain text, for screen readers and logs'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l max-rounds -d 'Maximum number of requests to the model per question [default: 10]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l timeout -d 'Time limit of a question, such as 90s or 5m [default: none]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l max-tokens -d 'Maximum input and output tokens of a question [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l max-cost -d 'Maximum cost of a question in USD [default: no limit]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l compact-at -d 'Summarize the oldest turns if the conversation has more tokens than this [default: 100000]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l tool-timeout -d 'Time limit of one run of Python code [default: 15m]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l memory -d 'Memory limit of Python code, such as 8GB [default: half of the machine\'s, at least 2GiB]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l retries -d 'Retries after a temporary failure of a request [default: 4]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l interpreter -d 'Where code runs [default: local]' -r -f -a "local\t'On this machine, confined'
hosted\t'In a container of the provider. csv-agent uploads the datasets'
both\t'On this machine or in a container, as the model chooses. csv-agent uploads the datasets'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l container-memory -d 'Memory of a container that csv-agent makes [default: 1g]' -r -f -a "1g\t'1 GB'
4g\t'4 GB'
16g\t'16 GB'
64g\t'64 GB'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l on-expired -d 'What to do if the provider\'s container has expired [default: error]' -r -f -a "error\t'Fail'
new\t'Continue in a new container, with the datasets but without the variables'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -s m -l model -d 'Model to ask [default: gpt-6.2-sol]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l base-url -d 'URL of the model\'s server, including `/v1` [default: OpenAI\'s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l api -d 'API of the server [default: auto]' -r -f -a "auto\t'The Responses API, or Chat Completions if the server does not have it'
responses\t'The Responses API'
chat\t'Chat Completions'
messages\t'Anthropic\'s Messages API. `auto` chooses it for api.anthropic.com'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l reasoning -d 'How much a reasoning model thinks [default: the model\'s own]' -r -f -a "low\t'Little'
medium\t'Enough for most questions'
high\t'A lot. Slower and more expensive'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l no-rows -d 'Let the model see only schemas, aggregates, and values that 5 or more rows share'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l stream -d 'Show the answer while the model writes it. This is the default'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l no-stream -d 'Show the answer when it is complete'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l require-sandbox -d 'Run no code unless the confinement is complete'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l allow-unconfined -d 'Run code even if it could read and write your files'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand config; and __fish_seen_subcommand_from edit" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand decrypt" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand completions" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand schema" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand help" -s h -l help -d 'Print help. `--help` describes all flags'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -s S -l session-dir -d 'Session directory [default: the nearest `.csv-agent`]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l session -d 'Use the session with this ID, a subdirectory of `DATA_ROOT`' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l config -d 'Use this configuration file instead of your own [default: ~/.config/csv-agent/config.toml]' -r -F
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l profile -d 'Use the settings of this profile' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l format -d 'Format of the answer [default: text]' -r -f -a "text\t'For people. In a pipe, answers are Markdown, and lists are tab-separated lines'
reply\t'Only the text of the reply'
json\t'One JSON document'
jsonl\t'One JSON event per line, as it happens'
csv\t'One table, separated by commas'
tsv\t'One table, separated by tabs'
md\t'Markdown with the tables, charts and the reply'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l color -d 'When to use color [default: auto]' -r -f -a "auto\t'On a terminal, unless an environment variable turns it off'
always\t'Always, also in a pipe'
never\t'Never'"
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l width -d 'Maximum width of a line in characters [default: that of the terminal, no limit in a pipe]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l lock-wait -d 'How long to wait for another csv-agent in the same session [default: 30s]' -r
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l no-config -d 'Do not read any configuration file'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l json -d 'The same as `--format json`'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -s q -l quiet -d 'Print only warnings and errors on stderr'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -s v -l verbose -d 'Show the code that runs. `-vv` also shows results'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -l no-input -d 'Never prompt for input'
complete -c csv-agent -n "__fish_csv_agent_using_subcommand generate" -s h -l help -d 'Print help. `--help` describes all flags'
