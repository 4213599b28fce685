"""Which files hold made-up people: known by their content, whatever they are called."""

from __future__ import annotations

#: The SHA-256 of every sample file that smdp ships or shipped (`smdp.simulation.samples`).
SYNTHETIC_FILES = frozenset(
    {
        # as they are now
        "e5a4b86d699afa42b13a66c660c0e6e03e49f77d3b4cc024be83bcc696ecdf52",
        "ff1f30f516d0786f5018fbf319e927f7b69bbff10590f6cd86194d6d901f833e",
        "327e08bdfc62a76398756524b22ad34e2aff7bcf438d72393a9ca03a81b3ab12",
        "862fcd7ccc56756293d468c1d93b2e59a57326daf2f00606ad48354ecba4e6bf",
        "93eb1d09d4d70c409544dd6f6a18ce6d762e5687b9043600b58056b4007d9415",
        "0ab5b90ef1fe7ca26159e24d520e8df71454de3f02c16af658c5712dc4cb4ef5",
        # as they were
        "8ed51b5ea15561ae97eb2d357e016626b607dae7c0a99efa08e32cfd5e1b8129",
        "3a8b62901b5c5452bb993dbf13994adac2b1aa4cf58cb620c8ba8848c3c40bb0",
        "9f03cc69d01529d2e240e068020e1b568e702af0acc8d53b77d55ef53b49ba93",
        "dc42168ac0035294cd89b91e543a028348f01e33d5dfbbea5318951858c34874",
        "9bb66720baeb7492c59401f1718a4b179b17045fb57b966806a6935bf62d6b5c",
        "9380617a5a94fcbe66ea1daab72fe4138ed069ec640de414aa32e930d722a0d3",
        "faebb6c88badbecb3bb631b0a6462f85b619b3cf29564e36bdcb7ee4ab48265e",
        "dc5711245ec12d0d49970a4a3fa50879d8ba22f89d9b37776142c6544b3afac2",
        "69a9113f7118d28556da59fc4a7a01423bdf9c5e7fbcc7367f1de5742c3a55f9",
        "812bc473667c8485c263b02b87762e9dfbb17ba614855be7d24c92ab9fab4a06",
    }
)

#: Of these, those of the students, whose modules were chosen by a fair coin at every report.
BY_A_FAIR_COIN = frozenset(
    {
        "e5a4b86d699afa42b13a66c660c0e6e03e49f77d3b4cc024be83bcc696ecdf52",
        "ff1f30f516d0786f5018fbf319e927f7b69bbff10590f6cd86194d6d901f833e",
        "327e08bdfc62a76398756524b22ad34e2aff7bcf438d72393a9ca03a81b3ab12",
        "862fcd7ccc56756293d468c1d93b2e59a57326daf2f00606ad48354ecba4e6bf",
    }
)
