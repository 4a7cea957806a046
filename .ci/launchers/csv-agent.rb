# Homebrew on Linux: `brew install ./csv-agent.rb`.
class CsvAgent < Formula
  desc "@DESCRIPTION@"
  homepage "@HOMEPAGE@"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on :linux

  on_intel do
    url "@URL@/csv-agent-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
    sha256 "@SHA256_x86_64@"
  end

  on_arm do
    url "@URL@/csv-agent-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
    sha256 "@SHA256_aarch64@"
  end

  def install
    bin.install "csv-agent"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/csv-agent.bash" => "csv-agent"
    fish_completion.install "completions/csv-agent.fish"
    zsh_completion.install "completions/_csv-agent"
  end

  test do
    (testpath/"a.csv").write("x\n1\n2\n")
    assert_equal "3", shell_output("#{bin}/csv-agent query -f a.csv --format csv 'select sum(x) as s from a'").lines.last.chomp
  end
end
